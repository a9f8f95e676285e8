"""The servers of all nodes, stopped together."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from unittest.mock import AsyncMock, patch

import pytest

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.lifecycle.cluster_loader import load_cluster
from fauxka.broker.lifecycle.cluster_server import ClusterServer
from fauxka.broker.lifecycle.storage_options import StorageOptions
from fauxka.broker.network.listeners import ListenerConfig

NODES = 3


def controller_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("fauxka-controller")]


def test_a_node_that_fails_to_stop_leaves_no_other_node_and_no_store_open(tmp_path: Path) -> None:
    config = BrokerConfig.from_entries({"log.flush.interval.messages": "1"})
    cluster = load_cluster(config, StorageOptions(data_dir=str(tmp_path), racks=[None] * NODES))
    server = ClusterServer(cluster, [[ListenerConfig(port=0)]] * NODES)

    async def start_and_stop() -> list[str]:
        await server.start()
        cluster.controller.create_topic("orders", 1)
        assert cluster.controller.store is not None
        cluster.controller.store.write()
        running = controller_threads()
        failure = OSError("the disk is gone")
        with (
            patch.object(server.servers[0], "stop", AsyncMock(side_effect=failure)),
            pytest.raises(BaseExceptionGroup) as raised,
        ):
            await server.stop()
        assert raised.value.exceptions == (failure,)
        assert [each.is_running for each in server.servers] == [True, False, False]
        await server.servers[0].stop()
        return running

    try:
        assert len(asyncio.run(start_and_stop())) == 1
        assert controller_threads() == []
    finally:
        cluster.close()

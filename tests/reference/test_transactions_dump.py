"""Kafka's dump tool reads the records of fauxka's transaction coordinator as it reads those of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fauxka.storage.file_systems.os_file_system import OsFileSystem

from ..broker.coordinators.transaction_scene import NEW, OLD, TransactionScene
from .dump_tool import Dumped, decoded

pytestmark = pytest.mark.reference

GOLDEN = Path(__file__).parent.parent / "golden" / "kafka-4.3.0-data-dir"
DECODER = "--transaction-log-decoder"
PRINTED = re.compile(r"\| offset: (\d+) .* key: (\{.*\}) payload: (\{.*\}|<DELETE>)$")
# What differs from run to run.
TIMES = ("transactionLastUpdateTimestampMs", "transactionStartTimestampMs")


def records_in(printed: Dumped) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """The keys and values, without their times."""
    found: list[tuple[dict[str, Any], dict[str, Any] | None]] = []
    for line in printed.output.splitlines():
        match = PRINTED.search(line)
        if match is not None:
            value = None if match[3] == "<DELETE>" else json.loads(match[3])
            if value is not None:
                for name in TIMES:
                    del value["data"][name]
            found.append((json.loads(match[2]), value))
    return found


@pytest.fixture(params=[2, 0])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> TransactionScene:
    """One partition of state, on disk."""
    config = {
        "transaction.state.log.num.partitions": "1",
        "transactional.id.expiration.ms": "1000",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "1000",
    }
    return TransactionScene(request.param, config, file_system=OsFileSystem(tmp_path))


def test_tool_prints_each_step_of_a_transaction(scene: TransactionScene, tmp_path: Path) -> None:
    level = scene.cluster.node.config.transaction_version
    version = NEW if level else OLD
    begun = scene.init("tx-1")
    producer = (begun.producer_id, begun.producer_epoch)
    scene.add("tx-1", producer, 0, 1, version=version)
    scene.end("tx-1", producer, is_commit=True, version=version)
    scene.clock.advance(2000)

    printed = decoded(tmp_path / "__transaction_state-0", DECODER)

    assert printed.complaints == []
    records = records_in(printed)
    assert [key for key, _ in records] == [{"type": "0", "data": {"transactionalId": "tx-1"}}] * 5
    assert [None if value is None else value["data"]["transactionStatus"] for _, value in records] == [0, 1, 2, 4, None]
    assert {value["version"] for _, value in records if value is not None} == {"1" if level else "0"}


def test_tool_prints_the_same_as_for_kafkas_own(tmp_path: Path) -> None:
    scene = TransactionScene(config={"transaction.state.log.num.partitions": "1"}, file_system=OsFileSystem(tmp_path))
    scene.cluster.controller.create_topic("demo", 1)
    begun = scene.init("tx-1")
    scene.coordinator.add("tx-1", begun.producer_id, 0, [("demo", 0)])
    scene.end("tx-1", (begun.producer_id, 0), is_commit=True)
    scene.coordinator.add("tx-1", begun.producer_id, 1, [("demo", 0)])
    scene.end("tx-1", (begun.producer_id, 1), is_commit=False)

    printed = decoded(tmp_path / "__transaction_state-0", DECODER)

    assert records_in(printed) == records_in(decoded(GOLDEN / "__transaction_state-0", DECODER))

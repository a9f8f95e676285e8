"""fauxka.response.delay.ms: each response has a floor of its own, and its request takes effect at once."""

from __future__ import annotations

import time

import pytest

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.config.config_sources import gather_config
from fauxka.broker.config.config_types import ConfigError
from fauxka.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
)
from fauxka.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from fauxka.protocol.messages.fetch import FetchRequest
from fauxka.testing import Broker

from ..wire.frames import api_versions_request
from ..wire.message_client import MessageClient
from ..wire.wire_connection import WireConnection

DELAY_MS = 300
KEY = "fauxka.response.delay.ms"
PIPELINED = 12
WAIT_SECONDS_MAX = 60.0


def test_no_response_comes_before_its_floor() -> None:
    with Broker({KEY: str(DELAY_MS)}) as broker, WireConnection(broker.bootstrap_servers) as connection:
        begin = time.monotonic()
        connection.send(api_versions_request())
        connection.receive_frame()

        assert time.monotonic() - begin >= DELAY_MS / 1000


def test_pipelined_requests_wait_together_and_their_responses_keep_their_order() -> None:
    with Broker({KEY: str(DELAY_MS)}) as broker, WireConnection(broker.bootstrap_servers) as connection:
        begin = time.monotonic()
        for number in range(PIPELINED):
            connection.send(api_versions_request(correlation_id=number))
        received = [int.from_bytes(connection.receive_frame()[:4]) for _ in range(PIPELINED)]

        assert received == list(range(PIPELINED))
        assert time.monotonic() - begin < PIPELINED * DELAY_MS / 1000


def test_request_takes_effect_before_its_response_and_a_broker_that_stops_does_not_wait() -> None:
    with Broker({KEY: "60000"}) as broker:
        begin = time.monotonic()
        connection = MessageClient(broker.bootstrap_servers)
        topic = CreatableTopic(name="t", num_partitions=1, replication_factor=1)
        connection.send(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 5)
        while "t" not in [each.name for each in broker.topics.list()]:
            assert time.monotonic() - begin < WAIT_SECONDS_MAX
        connection.close()

    assert time.monotonic() - begin < WAIT_SECONDS_MAX


def test_floor_stays_when_a_client_gets_a_quota() -> None:
    with Broker({KEY: str(DELAY_MS)}) as broker:
        connection = MessageClient(broker.bootstrap_servers)
        fetch = FetchRequest(max_wait_ms=0, max_bytes=1, session_epoch=-1)
        connection.call(fetch, 11)
        entity = EntityData(entity_type="client-id", entity_name=None)
        entry = RequestEntryData(entity=[entity], ops=[OpData(key="consumer_byte_rate", value=1e9)])
        connection.call(AlterClientQuotasRequest(entries=[entry]), 1)

        begin = time.monotonic()
        connection.call(fetch, 11)
        connection.close()

        assert time.monotonic() - begin >= DELAY_MS / 1000


@pytest.mark.parametrize("value", ["-1", "60001", "slow"])
def test_delay_out_of_range_is_refused(value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.from_entries({KEY: value})

    assert KEY in str(caught.value)
    assert value in str(caught.value)


def test_environment_and_command_line_set_the_delay() -> None:
    environment = gather_config({}, {"KAFKA_FAUXKA_RESPONSE_DELAY_MS": "5"}, [])
    command_line = gather_config({}, {"KAFKA_FAUXKA_RESPONSE_DELAY_MS": "5"}, [f"{KEY}=7"])

    assert [each.config.response_delay_ms for each in (environment, command_line)] == [5, 7]

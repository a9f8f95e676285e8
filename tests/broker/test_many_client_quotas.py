"""Requests about very many client quotas do not hold the event loop."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.metadata.client_quotas_image import (
    CLIENT_ID,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    USER,
    ClientQuotasImage,
)
from fauxka.broker.requests.client_quotas import ClientQuotas
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, RequestEntryData
from fauxka.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest

from ..manual_clock import manual_clock
from .long_requests import ask
from .loop_pauses import PAUSE_SECONDS_MAX
from .measured_node import MeasuredNode, measured_node

# Those of a few requests.
ENTITIES = 100_000


@pytest.fixture(scope="module")
def measured() -> Iterator[MeasuredNode]:
    with measured_node() as (node, pauses):
        quotas = node.cluster.image.client_quotas
        for index in range(ENTITIES):
            quotas.set(((USER, f"user-{index}"),), PRODUCER_BYTE_RATE, 1.0)
        yield node, pauses


def pause_after(measured: MeasuredNode, frame: bytes) -> float:
    """Send the request, and return how many seconds the event loop was held at most."""
    node, pauses = measured
    pauses.longest = 0.0
    assert ask(node.address, frame) is not None
    # The callback that sends the response has ended, too.
    node.call(lambda: None)
    return pauses.longest


@pytest.mark.pauses
def test_description_of_all_does_not_hold_the_event_loop(measured: MeasuredNode) -> None:
    request = DescribeClientQuotasRequest(components=[], strict=False)

    assert pause_after(measured, request_frame(APIS[ApiKey.DESCRIBE_CLIENT_QUOTAS], 1, 1, request)) < PAUSE_SECONDS_MAX


@pytest.mark.pauses
def test_entity_that_is_named_very_often_does_not_hold_the_event_loop(measured: MeasuredNode) -> None:
    entry = RequestEntryData(entity=[EntityData(entity_type=USER, entity_name="alice")], ops=[])
    request = AlterClientQuotasRequest(entries=[entry] * 49_000)

    assert pause_after(measured, request_frame(APIS[ApiKey.ALTER_CLIENT_QUOTAS], 1, 1, request)) < PAUSE_SECONDS_MAX


def test_measures_of_long_client_ids_keep_none_of_their_characters() -> None:
    image = ClientQuotasImage()
    image.set(((CLIENT_ID, None),), PRODUCER_BYTE_RATE, 1000.0)
    image.set(((CLIENT_ID, None),), CONTROLLER_MUTATION_RATE, 1.0)
    quotas = ClientQuotas(lambda: image, manual_clock(), BrokerConfig.from_entries({}), {})
    begins = "a" * 32_000

    def measure(client_id: str) -> tuple[int, int]:
        client = ("alice", client_id)
        mutations = quotas.take_mutations(client, 10, is_strict=False)
        return quotas.record(PRODUCER_BYTE_RATE, client, 100_000), mutations

    tracemalloc.start()
    try:
        throttled = [measure(begins + str(index)) for index in range(200)]
        kept_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # Each client has measures of its own, and the same client the same ones.
    assert len(set(throttled)) == 1
    assert measure(begins + "0") > throttled[0]
    assert kept_bytes < 200 * len(begins) / 4

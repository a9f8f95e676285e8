"""Requests about very many client quotas do not hold the event loop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.broker.metadata.client_quotas_image import PRODUCER_BYTE_RATE, USER
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, RequestEntryData
from fauxka.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest

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


def test_description_of_all_does_not_hold_the_event_loop(measured: MeasuredNode) -> None:
    request = DescribeClientQuotasRequest(components=[], strict=False)

    assert pause_after(measured, request_frame(APIS[ApiKey.DESCRIBE_CLIENT_QUOTAS], 1, 1, request)) < PAUSE_SECONDS_MAX


def test_entity_that_is_named_very_often_does_not_hold_the_event_loop(measured: MeasuredNode) -> None:
    entry = RequestEntryData(entity=[EntityData(entity_type=USER, entity_name="alice")], ops=[])
    request = AlterClientQuotasRequest(entries=[entry] * 49_000)

    assert pause_after(measured, request_frame(APIS[ApiKey.ALTER_CLIENT_QUOTAS], 1, 1, request)) < PAUSE_SECONDS_MAX

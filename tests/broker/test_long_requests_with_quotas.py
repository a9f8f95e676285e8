"""The response to a request of very many elements whose client is throttled does not hold the event loop either."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.broker.metadata.client_quota_control import Alteration
from fauxka.broker.metadata.client_quotas_image import (
    CONSUMER_BYTE_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    USER,
)

from .measured_node import MeasuredNode, check_widest, measured_node
from .wide_requests import WideRequest, wide_requests

pytestmark = pytest.mark.pauses

# Each request exceeds the first two, and each Fetch is measured for the third.
QUOTAS = {REQUEST_PERCENTAGE: 1e-9, PRODUCER_BYTE_RATE: 1.0, CONSUMER_BYTE_RATE: 2.0**40}
# Responses of as many elements: made in steps, encoded in pieces, and with the throttle time at the end.
LISTS = ["CreateAcls-creations", "Fetch-topics.partitions", "Metadata-topics", "Produce-topic_data.partition_data"]


@pytest.fixture(scope="module")
def measured() -> Iterator[MeasuredNode]:
    with measured_node() as (node, pauses):
        node.call(lambda: node.cluster.controller.alter_client_quotas([Alteration(((USER, None),), QUOTAS)]))
        yield node, pauses


def chosen_requests() -> Iterator[object]:
    """Yield every list of every request; most of them only in the group `deep`."""
    for request in wide_requests():
        yield pytest.param(
            request, id=str(request), marks=pytest.mark.slice if str(request) in LISTS else pytest.mark.deep
        )


@pytest.mark.parametrize("request_", list(chosen_requests()))
def test_widest_throttled_request_is_answered_and_does_not_hold_the_event_loop(
    request_: WideRequest, measured: MeasuredNode
) -> None:
    check_widest(request_, measured)

"""A broker with a topic of ten records, and readers of each client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.testing import Broker

from ..group_readers import READERS, TOPIC, MakeReader
from .situation import CONFIG, append


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker(CONFIG) as broker:
        yield broker


@pytest.fixture
def broker(shared: Broker) -> Broker:
    """One with ten records in the only partition."""
    shared.reset()
    shared.topics.create(TOPIC, partitions=1, configs={"retention.ms": -1})
    append(shared, 10)
    return shared


@pytest.fixture(params=READERS.values(), ids=list(READERS))
def make_reader(request: pytest.FixtureRequest) -> MakeReader:
    made: MakeReader = request.param
    return made

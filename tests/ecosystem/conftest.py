"""The broker of each test."""

from collections.abc import Iterator

import pytest

from fauxka.testing import Broker


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as started:
        yield started

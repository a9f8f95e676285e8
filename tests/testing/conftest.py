"""Runs the tests of a module that imports Broker from `transports` over each of them."""

import sys
from collections.abc import Iterator

import pytest

from . import transports


@pytest.fixture(scope="module", autouse=True)
def transport(request: pytest.FixtureRequest) -> Iterator[str]:
    """The transport of the brokers that a test makes."""
    name: str = getattr(request, "param", transports.THREAD)
    with transports.over(name):
        yield name


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All transports but the thread are in the group `deep`."""
    if getattr(sys.modules[metafunc.function.__module__], "Broker", None) is transports.Broker:
        is_of_thread = metafunc.function in transports.OF_A_THREAD
        params = [
            pytest.param(each, marks=() if each == transports.THREAD else pytest.mark.deep, id=each)
            for each in ((transports.THREAD,) if is_of_thread else transports.TRANSPORTS)
        ]
        metafunc.parametrize("transport", params, indirect=True, scope="module")

"""The classes for an event loop are made of those that block, and have the same members and documentation."""

import inspect

import pytest

from fauxka.admin import async_methods, methods
from fauxka.testing import AsyncBroker, AsyncRemoteBroker, Broker, RemoteBroker
from tools.async_methods import BY_HAND, SOURCE, async_text, differing, twins

from ..each_case import each_case

# Python calls them, and cannot await them.
ONLY_BLOCKING = {"__contains__", "__iter__", "__repr__", "__enter__", "__exit__"}
ONLY_AWAITED = {"__aenter__", "__aexit__"}
# A broker in this process: its thread or event loop, its objects, and its addresses.
OF_THIS_PROCESS = {
    *("call", "ask", "control", "cluster", "start", "stop", "begin_test", "earlier_clients"),
    *("get_bootstrap_server", "client_config", "tls_dir", "token_endpoint"),
}


def test_modules_are_as_they_are_made() -> None:
    assert list(differing(twins())) == [], "run python tools/async_methods.py"


def public(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


@pytest.mark.parametrize("other", [AsyncBroker, RemoteBroker, AsyncRemoteBroker])
def test_broker_has_the_same_members_on_each_transport(other: type) -> None:
    of_process = OF_THIS_PROCESS if "Remote" in other.__name__ else set[str]()

    assert public(Broker) - of_process <= public(other)
    assert public(other) - public(Broker) <= {"call"}


def pairs() -> list[tuple[str, type, type]]:
    """Return the classes of each module and their twins."""
    found: list[tuple[str, type, type]] = []
    for name in sorted({path.stem for path in SOURCE.glob("*.py")} - {each.removesuffix(".py") for each in BY_HAND}):
        twin_module = (
            getattr(async_methods, name, None) if (SOURCE.parent / "async_methods" / f"{name}.py").exists() else None
        )
        if twin_module is None:
            continue
        for twin_name, twin in inspect.getmembers(twin_module, inspect.isclass):
            blocking = getattr(getattr(methods, name), twin_name.removeprefix("Async"), None)
            if twin_name.startswith("Async") and twin.__module__ == twin_module.__name__ and blocking is not None:
                found.append((f"{name}.{twin_name}", blocking, twin))
    return found


@each_case(pairs, lambda pair: pair[0])
def test_twin_has_the_members_and_the_documentation(pair: tuple[str, type, type]) -> None:
    _, blocking, twin = pair

    assert own(blocking) - ONLY_BLOCKING == own(twin) - ONLY_AWAITED
    for name in own(blocking) & own(twin):
        assert async_text(inspect.getdoc(getattr(blocking, name)) or "") == inspect.getdoc(getattr(twin, name)), name


def own(of: type) -> set[str]:
    return {
        name
        for name in vars(of)
        if name == "__init__" or not name.startswith("_") or name in ONLY_BLOCKING | ONLY_AWAITED
    }

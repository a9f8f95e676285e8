"""A test that is a hunt: it is called once for each fault, with the fixtures of a broker of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .arguments import How, options_of
from .errors import BadHuntOption, CannotHunt
from .functions import Function
from .in_process import BUDGET, hunt_function
from .options import Options
from .report import failure_text
from .result import Result
from .writing import folders_of

if TYPE_CHECKING:
    from ..broker import Broker
    from ..broker_pool import Configuration

# The fixtures of the broker, which every call of the test gets anew.
_OF_BROKER: Mapping[str, Callable[[Broker], object]] = {
    "fauxka": lambda broker: broker,
    "fauxka_bootstrap": lambda broker: broker.bootstrap_servers,
    "faults": lambda broker: broker.faults,
}


class Framework(NamedTuple):
    """What a hunt must know of the framework of a test.

    failures, skips: the exceptions by which a test fails, and skips itself.
    make_folder: makes the folder for the files of the findings.
    """

    failures: tuple[type[BaseException], ...]
    skips: tuple[type[BaseException], ...]
    make_folder: Callable[[], Path]


def hunt_test(
    test: Callable[..., object],
    fixtures: Mapping[str, object],
    configuration: Configuration,
    framework: Framework,
    how: How,
) -> str | None:
    """Hunt a test, and return why it fails if there are findings, or why it cannot be hunted; otherwise None.

    test: its function, or the coroutine function that a plugin has wrapped. fixtures: its arguments; those of the
    broker are replaced. configuration: of the brokers, before that of `how`.
    A skip that the test raises without a fault is raised. Raises KeyboardInterrupt if a person has stopped the hunt:
    the tests that follow are not run either.
    """
    # A plugin for coroutines has one loop for all calls, which one that hangs would keep.
    original = inspect.unwrap(test, stop=inspect.iscoroutinefunction)
    called = original if inspect.iscoroutinefunction(original) else test
    kept = {name: value for name, value in fixtures.items() if name not in _OF_BROKER}
    replaced = {name: of for name, of in _OF_BROKER.items() if name in fixtures}
    skipped: list[BaseException] = []

    @contextmanager
    def noticing() -> Generator[None]:
        try:
            yield
        except framework.skips as skip:
            skipped.append(skip)
            raise

    def run(broker: Broker) -> object:
        with noticing():
            return called(**kept, **{name: of(broker) for name, of in replaced.items()})

    async def run_later(broker: Broker) -> None:
        with noticing():
            await run(broker)  # type: ignore[misc]

    if not replaced:
        return f"fauxka_hunt: the test has no fixture of a broker; allowed: {', '.join(_OF_BROKER)}"
    try:
        options = _options_of(configuration, how)
        program = Function(run_later if inspect.iscoroutinefunction(called) else run, framework.failures)
        result = hunt_function(program, options)
    except (BadHuntOption, CannotHunt) as error:
        if skipped:
            raise skipped[0] from None
        return f"fauxka_hunt: {error}"
    return _written_failure(result, framework.make_folder()) if result.findings else None


def _written_failure(result: Result, folder: Path) -> str:
    """Write the files of the findings, and return the failure. One that cannot be written must not hide it."""
    text = failure_text(result, [str(each) for each in folders_of(result, folder)])
    try:
        result.write(folder)
    except OSError as error:
        return f"{text}\nnot written: {error}"
    return text


def _options_of(configuration: Configuration, how: How) -> Options:
    given = How(config=dict(configuration.entries), nodes=configuration.nodes, as_version=configuration.as_version)
    options = options_of({**given, **how}, None, BUDGET)
    racks = None if "nodes" in how else configuration.racks
    broker = replace(options.setting.broker, racks=racks)
    return replace(options, setting=replace(options.setting, broker=broker))

"""SIGINT and SIGTERM of commands that run Spark."""

import signal
import threading
from collections.abc import Iterator

import pytest

from fauxka.pipeline.cluster.stop_signals import StopSignals


class StopError(Exception):
    """What the handler from before the block raises."""


def stop(number: int, _: object) -> None:
    raise StopError(number)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Install a handler of both signals, and afterwards those from before."""
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_does_what_it_did_before_and_is_noted(number: signal.Signals) -> None:
    with StopSignals() as signals, pytest.raises(StopError):
        signal.raise_signal(number)

    assert signals.first == number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_spark_starts_waits_for_its_end(number: signal.Signals) -> None:
    with StopSignals() as signals:
        with signals.waiting():
            signal.raise_signal(number)
        with pytest.raises(StopError):
            signals.act()


def test_a_second_signal_while_spark_starts_acts_at_once() -> None:
    with StopSignals() as signals, pytest.raises(StopError, match=str(int(signal.SIGTERM))), signals.waiting():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)

    assert signals.first == signal.SIGINT


def test_a_handler_that_spark_installs_has_no_effect_afterwards() -> None:
    with StopSignals() as signals:
        with signals.waiting():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        signals.act()
        with pytest.raises(StopError):
            signal.raise_signal(signal.SIGINT)


def test_handlers_are_those_from_before_after_the_block() -> None:
    with StopSignals():
        pass

    assert signal.getsignal(signal.SIGINT) is stop


def test_another_thread_gets_no_signals() -> None:
    seen: list[int | None] = []

    def run() -> None:
        with StopSignals() as signals, signals.waiting():
            seen.append(signals.first)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

    assert (seen, signal.getsignal(signal.SIGINT)) == ([None], stop)

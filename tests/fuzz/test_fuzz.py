"""Drawn and changed requests of every API and version; `python -m tests.fuzz` runs any number with any seed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from fauxka.protocol.api_keys import APIS

from .__main__ import replay
from .drawn_requests import World
from .frames import draw_frame
from .fuzz_run import FuzzFailure, FuzzOptions, run_fuzzer

# The command of a broker whose ListGroups begins with a statement.
BROKEN_PROGRAM = """
import os, time
from fauxka.__main__ import main
from fauxka.broker.handlers.groups import list_groups

handle = list_groups.handle

def broken(*request):
    {statement}
    return handle(*request)

list_groups.handle = broken
main()
"""
SPIN = "end = time.process_time() + 0.4\n    while time.process_time() < end: pass"
# Enough for some ListGroups.
FRAMES_OF_A_BROKEN_BROKER = 2_000


@pytest.fixture(autouse=True)
def files_of_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the frames of a failure to a folder that pytest keeps for some runs."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def check(seed: int, frames: int, *, is_on_disk: bool = False) -> None:
    report = run_fuzzer(FuzzOptions(seed, frames, is_on_disk=is_on_disk))

    assert report.frames == frames
    assert report.control_records > 0


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.slice), 2, 3, 4])
def test_drawn_and_changed_requests_harm_no_other_client(seed: int) -> None:
    check(seed, 10_000)


@pytest.mark.fuzz
@pytest.mark.slice
def test_drawn_and_changed_requests_harm_no_other_client_of_a_broker_on_disk() -> None:
    check(5, 10_000, is_on_disk=True)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(10, 20))
def test_many_drawn_and_changed_requests_harm_no_other_client(seed: int) -> None:
    check(seed, 50_000, is_on_disk=seed % 5 == 0)


def failure_of(statement: str) -> str:
    """Return the report of a run against a broken broker."""
    program = (sys.executable, "-c", BROKEN_PROGRAM.format(statement=statement))
    with pytest.raises(FuzzFailure) as failed:
        run_fuzzer(FuzzOptions(1, FRAMES_OF_A_BROKEN_BROKER), program)
    return str(failed.value)


@pytest.mark.processes
def test_failing_handler_is_reported_with_the_frame_that_calls_it() -> None:
    report = failure_of("raise RuntimeError('broken')")

    assert "RuntimeError: broken" in report
    assert "(ListGroups " in report


@pytest.mark.processes
def test_blocked_event_loop_is_reported_with_the_frame_that_blocks_it() -> None:
    report = failure_of(SPIN)

    assert "a pause of " in report
    assert "(ListGroups " in report


def test_broker_that_ends_is_reported() -> None:
    report = failure_of("os._exit(7)")

    assert "the broker ended with 7" in report


@pytest.mark.processes
def test_response_that_does_not_decode_is_reported_with_its_request() -> None:
    # A response without its body, as the codecs of Produce and Fetch would encode it.
    cut = "[b'\\0\\0\\0\\4' + id_.to_bytes(4, 'big')]"
    report = failure_of(f"return type('Cut', (), {{'encode': lambda self, id_, version: {cut}}})()")

    assert "in the response to 1:" in report


def test_a_seed_repeats_the_same_frames() -> None:
    world = World([bytes(16)], ["member"])

    first, second = ([draw_frame(7, index, world).data for index in range(500)] for _ in range(2))

    assert first == second


def test_frames_are_of_every_api_and_most_are_not_changed() -> None:
    frames = [draw_frame(7, index, World()) for index in range(5_000)]

    assert {frame.api for frame in frames} == set(APIS.values())
    assert sum(not frame.mutations for frame in frames) > len(frames) / 2


def test_replay_prints_the_response_to_one_frame(capsys: pytest.CaptureFixture[str]) -> None:
    assert replay("7:0", is_on_disk=False, long_list_elements=40) == 0

    assert capsys.readouterr().out.startswith("7:0 (")

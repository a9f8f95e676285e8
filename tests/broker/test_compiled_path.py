"""The compiled path of a request and its sources give the same responses, logs and journal for drawn bytes.

This process has the compiled modules, and a child has plain ones (plain_path).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.compiled_modules import is_compiled

from ..protocol.batch_bytes import NOW_MS, batch, records, unsigned
from ..run_counts import examples
from ..storage.test_compiled_modules import batches
from .plain_path import compiled_modules
from .recorded_path import TOPIC, record_path

pytestmark = [
    pytest.mark.deep,
    pytest.mark.slice,
    pytest.mark.skipif(not is_compiled(), reason="there are no compiled modules"),
]

ROOT = Path(__file__).resolve().parents[2]
BATCH_BYTES_MAX = 2000


@pytest.fixture(scope="module")
def plain() -> Iterator[subprocess.Popen[str]]:
    """A process of plain modules."""
    command = [sys.executable, "-m", "tests.broker.plain_path"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def ask(process: subprocess.Popen[str], question: object) -> list[Any]:
    """Return the answer of the process, see plain_path."""
    assert process.stdin is not None and process.stdout is not None, "the process has pipes"
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    answer: list[Any] = json.loads(process.stdout.readline())
    return answer


# The next batch of a producer, which most of them are, or any batch.
chosen_batches = st.none() | batches()


@st.composite
def requests(draw: st.DrawFn) -> list[bytes]:
    """Draw Produce requests, some of which are damaged, as frames with their sizes."""
    sequences = {7: 0, 8: 0}
    frames: list[bytes] = []
    for number in range(draw(st.integers(1, 12))):
        data = draw(chosen_batches)
        if data is None:
            producer_id, count = draw(st.sampled_from(sorted(sequences))), draw(st.sampled_from([1, 1, 3]))
            sequence = sequences[producer_id] + draw(st.sampled_from([0, 0, 0, 0, 0, -1, 1]))
            sequences[producer_id] = (sequence + count) % 2**31
            data = batch(
                records(count),
                count=count,
                producer_id=producer_id,
                producer_epoch=0,
                base_sequence=max(0, sequence),
                base_timestamp=NOW_MS,
            )
        # Cut, so that Hypothesis can print the requests.
        frames.append(request(draw, number, data[:BATCH_BYTES_MAX]))
    return frames


def request(draw: st.DrawFn, number: int, data: bytes) -> bytes:
    """Return a Produce request, most of them with the same head."""
    client_id = draw(st.sampled_from([b"load", b"load", b"load", b"other", b"", b"\xff"]))
    acks = draw(st.sampled_from([-1, -1, -1, 1, 0, 2]))
    partition = draw(st.sampled_from([0, 0, 0, 1, 5]))
    end = draw(st.sampled_from([b"\0\0\0", b"\0\0\0", b"\0\0\0", b"\0\0\1", b"\0\0", b"\1\0\0\0\0"]))
    body = b"\0" + acks.to_bytes(2, "big", signed=True) + (30_000).to_bytes(4, "big")
    body += b"\2" + unsigned(len(TOPIC) + 1) + TOPIC.encode() + b"\2" + partition.to_bytes(4, "big")
    body += unsigned(len(data) + 1) + data + end
    version = draw(st.sampled_from([9, 9, 9, 9, 11, 12, 99]))
    header = (0).to_bytes(2, "big") + version.to_bytes(2, "big") + (100 + number).to_bytes(4, "big")
    frame = header + len(client_id).to_bytes(2, "big") + client_id + b"\0" + body
    return len(frame).to_bytes(4, "big") + frame


@given(requests(), st.lists(st.integers(1, 2000), max_size=20))
@settings(max_examples=examples(200), deadline=None)
def test_drawn_requests_have_the_same_responses_logs_and_journal(
    plain: subprocess.Popen[str], frames: list[bytes], sizes: list[int]
) -> None:
    stream = b"".join(frames)
    reads: list[str] = []
    while stream:
        size = min(sizes.pop(0) if sizes else 100_000, 100_000)
        reads.append(stream[:size].hex())
        stream = stream[size:]

    assert record_path(reads) == ask(plain, reads)


def test_the_two_processes_run_different_files(plain: subprocess.Popen[str]) -> None:
    assert record_path([]) == ask(plain, [])

    assert ask(plain, None) == []
    assert set(compiled_modules()) >= {"fauxka.broker.network.connection", "fauxka.storage.partition_log"}

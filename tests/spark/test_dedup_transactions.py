"""`dedup` of a log with transactions: records of aborted and open transactions are left out."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from fauxka.protocol.batches.control_records import EndTransactionMarker, build_marker_batch
from fauxka.protocol.batches.record_batch import stamped_prefix
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.testing import Broker

from ..pipeline.logs_on_disk import write_segment
from ..serving_process import environment

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

COMMAND = (sys.executable, "-m", "fauxka.pipeline", "dedup")
RUN_SECONDS_MAX = 400
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")


def transactional(offset: int, event: str, value: bytes, producer: int) -> bytes:
    options = BatchOptions(
        base_offset=offset, producer_id=producer, producer_epoch=0, base_sequence=offset, is_transactional=True
    )
    return build_batch([Record(value, event.encode(), 1_700_000_000_000 + offset)], options)


def marker(offset: int, producer: int, *, is_commit: bool) -> bytes:
    built = build_marker_batch(
        EndTransactionMarker(is_commit, 0), producer_id=producer, producer_epoch=0, timestamp=1_700_000_000_000
    )
    return stamped_prefix(offset, len(built) - 12, 0) + built[16:]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log with an aborted event that was sent again, an event that was only aborted, and an open transaction."""
    stored = [
        transactional(0, "a", b"aborted", 7),
        transactional(1, "b", b"aborted", 7),
        marker(2, 7, is_commit=False),
        transactional(3, "a", b"committed", 7),
        marker(4, 7, is_commit=True),
        transactional(5, "c", b"open", 8),
        transactional(6, "d", b"behind it", 9),
        marker(7, 9, is_commit=True),
    ]
    path = write_segment(tmp_path / "logs" / "t-0", stored)
    path.with_suffix(".txnindex").write_bytes(aborted_entry(7, 0, 2))
    return tmp_path / "logs"


def aborted_entry(producer: int, first: int, last: int) -> bytes:
    return (0).to_bytes(2) + b"".join(number.to_bytes(8) for number in (producer, first, last, last + 1))


@contextmanager
def source(kind: str, folder: Path) -> Generator[tuple[str, str], None, None]:
    if kind == "path":
        yield "--path", str(folder)
        return
    with Broker(import_logs=folder) as broker:
        yield "--bootstrap", broker.bootstrap_servers


@pytest.mark.parametrize(
    ("kind", "mode"), [("path", "--available-now"), ("bootstrap", "--available-now"), ("path", "--batch")]
)
def test_one_committed_copy_of_each_event_is_kept(tmp_path: Path, folder: Path, kind: str, mode: str) -> None:
    once = tmp_path / "once"
    with source(kind, folder) as place:
        ended = subprocess.run(
            [*COMMAND, "--from", "t", "--event-id", "key", "--to", f"{once}/", *place, mode, *QUICK],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS_MAX,
            check=False,
        )

    assert ended.returncode == 0, ended.stderr
    kept = parquet.read_table(once, columns=["event_id", "value"]).to_pylist()  # pyright: ignore[reportUnknownMemberType]
    assert kept == [{"event_id": "a", "value": b"committed"}]
    lines = ended.stdout.splitlines()
    assert lines[0] == "read 1 records of t"
    assert "t-0 is read up to offset 5, where an open transaction begins" in lines
    assert lines[-1] == "further copies of events in t: 0"

"""A broker process on a data folder, and helpers to stop or kill it."""

import signal
from contextlib import AbstractContextManager
from pathlib import Path

from fauxka.protocol.batches.records import Record

from ..serving_process import Serving, serving, stop
from ..storage.logs import records_in
from .blocking_client import BlockingClient


def serving_from(tmp_path: Path, *arguments: str) -> AbstractContextManager[Serving]:
    """Run a broker on the folder "data" in tmp_path inside the with block."""
    return serving(tmp_path, "--data-dir", str(tmp_path / "data"), *arguments)


def end(broker: Serving, number: signal.Signals) -> str:
    """Send the signal, remove the ready file, which a kill leaves behind, and return the log."""
    log = stop(broker, number).log
    broker.ready_file.unlink(missing_ok=True)
    return log


def fetched(client: BlockingClient, topic: str, offset: int, end_offset: int) -> list[Record]:
    """Return the records of partition 0 from offset to end_offset."""
    records: list[Record] = []
    while offset < end_offset:
        part = records_in(bytes(client.fetch(topic, offset).records or b""))
        assert part, f"nothing at {offset}"
        records += part
        offset = part[-1].offset + 1
    return records

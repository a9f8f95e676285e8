"""The records that a thread reads, until the test polls them."""

import queue

from .records import StoredRecord

POLL_SECONDS = 0.1


class RecordQueue:
    """A queue of records."""

    def __init__(self) -> None:
        self._records: queue.SimpleQueue[StoredRecord] = queue.SimpleQueue()

    def put(self, stored: StoredRecord) -> None:
        """Add a record."""
        self._records.put(stored)

    def poll(self) -> list[StoredRecord]:
        """Wait for a record for POLL_SECONDS, and return all that are there."""
        records: list[StoredRecord] = []
        try:
            records.append(self._records.get(timeout=POLL_SECONDS))
            while True:
                records.append(self._records.get_nowait())
        except queue.Empty:
            return records

"""Writes batches unchanged to .log files, and rolls segments as Kafka does."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from ....protocol.batches.record_batch import NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_ID
from ....protocol.batches.whole_batches import WholeBatch
from ....storage.log_files import LOG_SUFFIX, RELATIVE_OFFSET_MAX, file_name


class SegmentsWriter:
    """The .log files of one partition."""

    def __init__(self, folder: Path, segment_bytes: int, first_offset: int) -> None:
        """folder: a folder without .log files. first_offset: the log start offset.

        segment_bytes: the maximum size of a segment with more than one batch.
        """
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._first_offset = first_offset
        self._file: BinaryIO | None = None
        self._base_offset = 0
        self._size = 0
        self.next_offset = first_offset
        self.first_base_offset = first_offset
        self.total_bytes = 0
        self.highest_producer_id = NO_PRODUCER_ID
        self.highest_leader_epoch = NO_PARTITION_LEADER_EPOCH

    def append(self, batch: WholeBatch) -> None:
        """Append a batch. Raises OSError."""
        header = batch.header
        if self._file is None:
            # The log start may be inside the first batch. A compacted log may have its first batch later.
            self.first_base_offset = min(self._first_offset, header.base_offset)
            self._file = self._open(self.first_base_offset)
        elif self._is_roll_due(batch):
            self._file.close()
            self._file = self._open(header.base_offset)
        self._file.write(batch.data)
        self._size += header.size
        self.total_bytes += header.size
        self.next_offset = header.last_offset + 1
        self.highest_producer_id = max(self.highest_producer_id, header.producer_id)
        self.highest_leader_epoch = max(self.highest_leader_epoch, header.partition_leader_epoch)

    def _is_roll_due(self, batch: WholeBatch) -> bool:
        is_too_large = self._size + batch.header.size > self._segment_bytes
        return is_too_large or batch.header.last_offset - self._base_offset > RELATIVE_OFFSET_MAX

    def _open(self, base_offset: int) -> BinaryIO:
        self._base_offset = base_offset
        self._size = 0
        return (self._folder / file_name(base_offset, LOG_SUFFIX)).open("xb")

    def close(self) -> None:
        """Close the last file. A log without a batch gets an empty file. Raises OSError."""
        if self._file is None:
            self._file = self._open(self._first_offset)
        self._file.close()

"""What retention and DeleteRecords have deleted from a log, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class DeletionCause(Enum):
    """What has moved the log start: a config, or a request of a client."""

    RETENTION_MS = "retention.ms"
    RETENTION_BYTES = "retention.bytes"
    DELETE_RECORDS = "DeleteRecords"


@dataclass(frozen=True, slots=True)
class DeletedRecords:
    """The offsets from first_offset to before end_offset, which are deleted.

    limit: the value of the config; the offset that the client requested.
    """

    first_offset: int
    end_offset: int
    cause: DeletionCause
    limit: int

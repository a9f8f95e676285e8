"""Segment files that were deleted during a comparison, such as by retention, and what they leave unjudged.

A record of such a file was read or not, by the time of the deletion. It can be one that is missing, the counterpart of
another one, or the first of several copies. Records without an event id and late ones are judged: both sides were read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from ..bad_option import BadOption
from ..read.options import parse_options
from ..read.stored_listing import DeletedFiles, find_deleted
from .copies import DUPLICATED
from .side_rows import OpenedLog
from .sides import SideName
from .verdicts import CHANGED, EXPIRED, EXTRA, LOST, PENDING, REORDERED

# The kinds that a missing record of either side can cause.
UNJUDGED_KINDS = (LOST, EXTRA, CHANGED, REORDERED, PENDING, EXPIRED, DUPLICATED)


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """The deleted files of both sides. topics: of the files, as on the left side. notes: for the verdict."""

    files: tuple[DeletedFiles, ...] = ()
    topics: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def without_unjudged(self, findings: DataFrame) -> DataFrame:
        """Return the findings that do not depend on the deleted files. One without a topic may be of any."""
        if not self.topics:
            return findings
        is_topic = f.coalesce(f.col("topic").isin(*self.topics), f.lit(True))
        return findings.where(~(is_topic & f.col("kind").isin(*UNJUDGED_KINDS)))

    def plus(self, other: DeletedRows) -> DeletedRows:
        """Return the deleted files of both."""
        return DeletedRows(self.files + other.files, self.topics | other.topics, self.notes + other.notes)


def find_deleted_rows(side: SideName, opened: OpenedLog | None, left_of: Callable[[str], str]) -> DeletedRows:
    """Return the files of a side that were deleted since it was opened; none for a broker or a table.

    left_of: returns the name of a topic on the left side.
    """
    options = None if opened is None else parse_options(opened.options)
    if options is None or options.listing is None:
        return DeletedRows()
    try:
        found = tuple(find_deleted(options))
    except BadOption as error:
        return DeletedRows(notes=(f"unknown whether files of the {side} side were deleted meanwhile: {error}",))
    notes = tuple(
        f"deleted from the {side} side during this comparison: {one}. Of its topic only late records and those without"
        " an event id are judged"
        for one in found
    )
    return DeletedRows(found, frozenset(left_of(one.topic) for one in found), notes)

"""What the segment files that were deleted during an audit leave unjudged.

A pass over the log reads a file or not, by the time at which it was deleted. So nothing that is missing from such a
partition is a finding: it may have been in the file. A copy of an event in the file is not found either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from ..read.options import parse_options
from ..read.stored_listing import DeletedFiles, find_deleted
from .audit_job import AuditRequest

# The kinds that a missing batch of a replica can cause.
_REPLICA_KINDS = ("replica_divergence", "unreplicated_records")
# The kinds that a missing batch of the log can cause.
UNJUDGED_KINDS = (
    *("missing_offsets", "compacted_offsets", "truncated_log", "open_transaction", "hanging_transaction"),
    *("lost", "expired", "offset_differs", "offset_beyond_end", "offset_in_hole"),
    *_REPLICA_KINDS,
)
# In words, for the verdict.
_UNJUDGED = (
    "lost events, missing offsets, truncation, replicas, committed offsets and open transactions of the partition are"
    " not judged, and repeated events may be missing"
)
_REPLICA_UNJUDGED = "the replicas of the partition are not judged"


def find_deleted_files(request: AuditRequest) -> list[DeletedFiles]:
    """Return the files of the log and of its replicas that were deleted since they were listed. Raises BadOption."""
    options = parse_options(request.options)
    if options.listing is None:
        return []
    found = find_deleted(options)
    for place, of_replica in zip(request.replicas, request.replica_logs, strict=True):
        found += (replace(one, replica=place) for one in find_deleted(parse_options(of_replica)))
    return found


def deletion_note(deleted: DeletedFiles) -> str:
    """Return a line for the verdict."""
    was = "was" if deleted.files == 1 else "were"
    unjudged = _UNJUDGED if deleted.replica is None else _REPLICA_UNJUDGED
    return f"{deleted} {was} deleted during this audit: {unjudged}"


def without_unjudged(findings: DataFrame, deleted: Iterable[DeletedFiles]) -> DataFrame:
    """Return the findings that do not depend on the deleted files. One without a partition may be of any."""
    is_unjudged = f.lit(False)
    for one in deleted:
        is_topic = f.coalesce(f.col("topic") == one.topic, f.lit(True))
        is_partition = f.coalesce(f.col("partition") == one.partition, f.lit(True))
        kinds = UNJUDGED_KINDS if one.replica is None else _REPLICA_KINDS
        is_unjudged |= is_topic & is_partition & f.col("kind").isin(*kinds)
    return findings.where(~is_unjudged)

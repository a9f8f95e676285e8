"""What the segment files that were deleted during an audit leave unjudged.

A pass over the log reads a file or not, by the time at which it was deleted. So nothing that is missing from such a
partition is a finding: it may have been in the file.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from ..read.stored_listing import DeletedFiles

# The kinds that a missing batch can cause.
UNJUDGED_KINDS = (
    *("missing_offsets", "compacted_offsets", "open_transaction", "hanging_transaction"),
    *("lost", "expired", "offset_differs"),
)
# In words, for the verdict.
UNJUDGED = "lost events, missing offsets and open transactions of the partition are not judged"


def without_unjudged(findings: DataFrame, deleted: Iterable[DeletedFiles]) -> DataFrame:
    """Return the findings that do not depend on the deleted files. One without a partition may be of any."""
    is_unjudged = f.lit(False)
    for one in deleted:
        is_topic = f.coalesce(f.col("topic") == one.topic, f.lit(True))
        is_unjudged |= is_topic & f.coalesce(f.col("partition") == one.partition, f.lit(True))
    return findings.where(~(is_unjudged & f.col("kind").isin(*UNJUDGED_KINDS)))

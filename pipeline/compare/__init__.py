"""Comparison of two sides: a log with what a sink, an application or a mirror made of it.

- A side is a log (topics of a cluster, segment files) or a table of any source of Spark (sides.py).
- The records of each side are decoded once, as entries of one schema, which are kept on the disk (entries.py). The
  right side is read first, so that it has no record that is newer than the end of the left one. compare_job.py says
  what is read again.
- Equal ids are of the same record: of the offset columns, of the event id, or of the position within the key
  (positions.py). All other modules see only ids.
- One row for each id says what both sides have of it (matched.py). coverage.py says what each side can have.
  verdicts.py, copies.py and order.py make findings of the rows. deleted_rows.py leaves out those of deleted files.
- Nothing here uses a SparkContext, the JVM or an RDD, so that the comparison also runs over Spark Connect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import compare_request as compare_request
    from . import compare_run as compare_run
    from . import compared_range as compared_range
    from . import sides as sides
else:
    __getattr__ = part_loader(__name__)

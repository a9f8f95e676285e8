"""Transactions that began in front of the audited range and are still open.

An earlier audit saw such a transaction open for a short time, and the range has none of its batches. Without this check
no audit of a part of a log would find that it never ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...client.errors import BrokerError
from ..bad_option import BadOption
from ..read.log_splits import open_log
from ..read.options import parse_options
from .audited_range import AuditedRange, by_topic

OPEN_KINDS = ("open_transaction", "hanging_transaction")


def earlier_transactions(options: Mapping[str, str], audited: AuditedRange) -> dict[str, str] | None:
    """Return options of the data source that read the first batch of each partition's earliest such transaction.

    options: of the audit. None if there is no such transaction. Raises BadOption.
    """
    if not audited.cut_starts:
        return None
    kept = {name: text for name, text in options.items() if name.lower() not in ("startingoffsets", "endingoffsets")}
    try:
        first_open = open_log(parse_options({**kept, "isolationLevel": "read_committed"})).open_transaction_offsets()
    except BrokerError as error:
        raise BadOption(str(error)) from error
    earlier = {name: offset for name, offset in first_open.items() if offset < audited.starts.get(name, 0)}
    if not earlier:
        return None
    # Nothing is read of the other partitions.
    starts = {**audited.ends, **earlier}
    ends = {**audited.ends, **{name: offset + 1 for name, offset in earlier.items()}}
    return {
        **kept,
        "startingOffsets": json.dumps(by_topic(starts)),
        "endingOffsets": json.dumps(by_topic(ends)),
    }

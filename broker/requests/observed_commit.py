"""Reports a commit of offsets to the journal."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...faults.consumption.events import Offset
from ...protocol.error_codes import KafkaError

if TYPE_CHECKING:
    from ..coordinators.group.group import OffsetCommitter
    from ..coordinators.group.group_offsets import OffsetToCommit
    from .request_context import RequestContext


@contextmanager
def observed_commit(
    context: RequestContext, committer: OffsetCommitter, offsets: Sequence[OffsetToCommit]
) -> Generator[None, None, None]:
    """Report the commit that the block carries out, and the KafkaError with which it is refused."""
    consumption = context.node.consumption
    if consumption is None:
        yield
        return
    reported = [Offset(each.topic_name, each.partition, each.offset) for each in offsets]
    consumption.committing(context, (committer.group_id, committer.member_id, committer.generation_id), reported)
    try:
        yield
    except KafkaError as error:
        consumption.refused(error.code)
        raise

"""The data of a report: the journal of a run, and the state of the broker at its end."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import chain

from msgspec import Struct

from ... import __version__
from ...faults.consumption.group_verdict import GroupVerdict
from ...faults.journal.journal_entries import JournalEntry
from ...faults.verdict.topic_verdict import TopicVerdict
from ..errors import CallError
from ..operations.file_operations import FileRuleInfo
from ..operations.group_operations import GroupInfo
from ..operations.mark_operations import MarkInfo
from ..operations.rule_models import RuleInfo
from ..operations.topic_operations import TopicInfo

# The newest requests of a report: as many as the page shows, and the journal keeps by default.
REQUESTS_MAX = 10_000


class RecordedJournal(Struct, kw_only=True):
    """Requests, oldest first. dropped: the number of older ones that are not here. marks: between the requests."""

    items: list[JournalEntry]
    dropped: int = 0
    marks: list[MarkInfo] = []


class BrokerState(Struct, kw_only=True):
    """The state of a broker.

    verdicts: on topics. unjudged: why a topic has no verdict, by its name. groups: the verdicts on groups.
    unjudged_groups: why a group has none, by its id.
    """

    topics: list[TopicInfo]
    verdicts: list[TopicVerdict]
    unjudged: dict[str, str]
    rules: list[RuleInfo]
    files: list[FileRuleInfo]
    groups: list[GroupVerdict] = []
    unjudged_groups: dict[str, str] = {}

    @contextmanager
    def noting_unjudged(self, name: str) -> Generator[None]:
        """Note why a topic has no verdict."""
        with _noting_error(self.unjudged, name):
            yield

    @contextmanager
    def noting_unjudged_group(self, group_id: str) -> Generator[None]:
        """Note why a group has no verdict. A client may have asked for the coordinator of one that never existed."""
        with _noting_error(self.unjudged_groups, group_id, but=404):
            yield


class RunReport(Struct, kw_only=True):
    """A run. title: what it was, such as the address of the broker. state: None if only the journal was kept.

    written_at_ms: on the machine's clock. version: of fauxka.
    """

    title: str
    version: str
    written_at_ms: int
    journal: RecordedJournal
    state: BrokerState | None


def report_of(title: str, journal: RecordedJournal, state: BrokerState | None) -> RunReport:
    """Return the report that is written now."""
    return RunReport(
        title=title, version=__version__, written_at_ms=int(time.time() * 1000), journal=journal, state=state
    )


def newest_of(journal: RecordedJournal) -> RecordedJournal:
    """Return the newest REQUESTS_MAX requests of a journal, oldest first."""
    items = sorted(journal.items, key=lambda entry: entry.id)
    kept = items[-REQUESTS_MAX:]
    dropped = journal.dropped + len(items) - len(kept)
    return RecordedJournal(items=kept, dropped=dropped, marks=journal.marks)


@contextmanager
def _noting_error(errors: dict[str, str], name: str, but: int | None = None) -> Generator[None]:
    """but: the status of errors that are not noted."""
    try:
        yield
    except CallError as error:
        if error.status != but:
            errors[name] = str(error)


def judged_topics(journal: Iterable[JournalEntry], topics: Sequence[TopicInfo]) -> list[str]:
    """Return the topics of a report's verdicts, those of the journal that were deleted included."""
    internal = {topic.name for topic in topics if topic.internal}
    sent_to = (batch.topic for entry in journal for batch in entry.batches)
    names = dict.fromkeys(chain(sent_to, (topic.name for topic in topics)))
    return [name for name in names if name not in internal]


def judged_groups(journal: Iterable[JournalEntry], groups: Sequence[GroupInfo]) -> list[str]:
    """Return the ids of the groups of a report's verdicts, those of the journal that were deleted included."""
    asked_for = (group_id for entry in journal for group_id in entry.group_ids)
    # Groups of the run come first.
    return list(dict.fromkeys(chain(asked_for, (group.group_id for group in groups))))

"""The data of a report: the journal of a run, and the state of the broker at its end."""

from __future__ import annotations

import time
from itertools import chain
from typing import Protocol

from msgspec import Struct

from ... import __version__
from ...faults.journal.journal_entries import JournalEntry
from ...faults.verdict.topic_verdict import TopicVerdict
from ..errors import CallError
from ..operations.file_operations import FileRuleInfo
from ..operations.rule_models import RuleInfo
from ..operations.topic_operations import TopicInfo

# The newest requests of a report: as many as the page shows, and the journal keeps by default.
REQUESTS_MAX = 10_000
# A verdict reads whole logs.
VERDICTS_MAX = 200


class RecordedJournal(Struct, kw_only=True):
    """Requests, oldest first. dropped: the number of older ones that are not here."""

    items: list[JournalEntry]
    dropped: int = 0


class BrokerState(Struct, kw_only=True):
    """The state of a broker. unjudged: why a topic has no verdict, by its name."""

    topics: list[TopicInfo]
    verdicts: list[TopicVerdict]
    unjudged: dict[str, str]
    rules: list[RuleInfo]
    files: list[FileRuleInfo]


class RunReport(Struct, kw_only=True):
    """A run. title: what it was, such as the address of the broker. state: None if only the journal was kept.

    written_at_ms: on the machine's clock. version: of fauxka.
    """

    title: str
    version: str
    written_at_ms: int
    journal: RecordedJournal
    state: BrokerState | None


class ReportSource(Protocol):
    """A broker that a report can be made of."""

    def journal(self, since: int) -> RecordedJournal:
        """Return the newest requests with a greater id, at most REQUESTS_MAX."""
        ...

    def topics(self) -> list[TopicInfo]:
        """Return all topics."""
        ...

    def rules(self) -> list[RuleInfo]:
        """Return the fault rules for requests and connections."""
        ...

    def file_rules(self) -> list[FileRuleInfo]:
        """Return the fault rules for files."""
        ...

    def verdict(self, topic: str) -> TopicVerdict:
        """Return the verdict on a topic. Raises CallError if there is none."""
        ...


def collect_report(source: ReportSource, title: str, since: int = 0) -> RunReport:
    """Read the data of a report. since: only requests with a greater id. Raises what the source raises."""
    journal = source.journal(since)
    return report_of(title, journal, collect_state(source, journal))


def report_of(title: str, journal: RecordedJournal, state: BrokerState | None) -> RunReport:
    """Return the report that is written now."""
    return RunReport(
        title=title, version=__version__, written_at_ms=int(time.time() * 1000), journal=journal, state=state
    )


def newest_of(journal: RecordedJournal) -> RecordedJournal:
    """Return the newest REQUESTS_MAX requests of a journal, oldest first."""
    items = sorted(journal.items, key=lambda entry: entry.id)
    kept = items[-REQUESTS_MAX:]
    return RecordedJournal(items=kept, dropped=journal.dropped + len(items) - len(kept))


def collect_state(source: ReportSource, journal: RecordedJournal) -> BrokerState:
    """Read the state of a broker, with the verdicts on its topics and on those of the journal that were deleted."""
    topics = source.topics()
    state = BrokerState(topics=topics, verdicts=[], unjudged={}, rules=source.rules(), files=source.file_rules())
    internal = {topic.name for topic in topics if topic.internal}
    sent_to = (batch.topic for entry in journal.items for batch in entry.batches)
    # Topics of the run come first, in case there are too many.
    names = dict.fromkeys(name for name in chain(sent_to, (topic.name for topic in topics)) if name not in internal)
    for index, name in enumerate(names):
        if index >= VERDICTS_MAX:
            state.unjudged[name] = f"a report has at most {VERDICTS_MAX} verdicts"
            continue
        try:
            state.verdicts.append(source.verdict(name))
        except CallError as error:
            state.unjudged[name] = str(error)
    return state

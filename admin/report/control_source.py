"""The data of a report from a broker in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from ...faults.journal.journal_entries import read_entries
from ...faults.verdict.topic_verdict import TopicVerdict
from ..control import Control
from ..operations.file_operations import FileRuleInfo, file_rule_info
from ..operations.rule_models import RuleInfo, rule_info
from ..operations.topic_operations import TopicInfo, list_topics
from ..operations.verdict_operations import VerdictQuery, read_verdict
from ..paging import LIMIT_MAX, NamePage
from .run_report import REQUESTS_MAX, RecordedJournal

Result = TypeVar("Result")


class AskControl(Protocol):
    """Runs a function with the broker's Control on the broker's thread."""

    def __call__(self, function: Callable[[Control], Result], /) -> Result:
        """Return the result of function, or raise its exception."""
        ...


class ControlSource:
    """Reads each part by a call of its own, so that the broker serves its clients in between."""

    def __init__(self, ask: AskControl) -> None:
        """ask: runs a function on the broker's thread."""
        self._ask = ask

    def journal(self, since: int) -> RecordedJournal:
        """Return the newest requests with a greater id, at most REQUESTS_MAX."""

        def read(control: Control) -> RecordedJournal:
            journal = control.journal
            items = read_entries(journal, since=max(since, journal.last_id - REQUESTS_MAX))
            # Ids are consecutive.
            count = journal.last_id - max(since, journal.cleared_id)
            return RecordedJournal(items=items, dropped=count - len(items))

        return self._ask(read)

    def topics(self) -> list[TopicInfo]:
        """Return all topics."""
        return self._ask(lambda control: list_topics(control, NamePage(limit=LIMIT_MAX)).items)

    def rules(self) -> list[RuleInfo]:
        """Return the fault rules for requests and connections."""
        return self._ask(lambda control: [rule_info(armed) for armed in control.plan.rules])

    def file_rules(self) -> list[FileRuleInfo]:
        """Return the fault rules for files."""
        return self._ask(lambda control: [file_rule_info(armed) for armed in control.files.rules])

    def verdict(self, topic: str) -> TopicVerdict:
        """Return the verdict on a topic. Raises CallError if there is none."""
        return self._ask(lambda control: read_verdict(control, VerdictQuery(topic=topic)))

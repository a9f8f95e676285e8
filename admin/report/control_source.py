"""The data of a report from a broker in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ...faults.files.armed_file_rule import ArmedFileRule
from ...faults.journal.journal_entries import read_entries
from ...faults.rules.armed_rule import ArmedRule
from ...faults.verdict.topic_verdict import TopicVerdict
from ..control import Control
from ..operations.file_operations import FileRuleInfo, file_rule_info
from ..operations.rule_models import RuleInfo, rule_info
from ..operations.topic_operations import TopicInfo, list_topics
from ..operations.verdict_operations import VerdictQuery, read_verdict
from ..paging import LIMIT_MAX, NamePage
from .run_report import REQUESTS_MAX, RecordedJournal

Result = TypeVar("Result")
Armed = TypeVar("Armed", ArmedRule, ArmedFileRule)


class AskControl(Protocol):
    """Runs a function with the broker's Control on the broker's thread."""

    def __call__(self, function: Callable[[Control], Result], /) -> Result:
        """Return the result of function, or raise its exception."""
        ...


class ControlSource:
    """Reads each part by a call of its own, so that the broker serves its clients in between."""

    def __init__(
        self, ask: AskControl, rules: Sequence[ArmedRule] = (), file_rules: Sequence[ArmedFileRule] = ()
    ) -> None:
        """ask: runs a function on the broker's thread. rules, file_rules: further ones, which may have been removed."""
        self._ask = ask
        self._rules = rules
        self._file_rules = file_rules

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
        """Return the fault rules for requests and connections, in the order in which they were added."""
        return self._ask(lambda control: [rule_info(armed) for armed in _by_id([*self._rules, *control.plan.rules])])

    def file_rules(self) -> list[FileRuleInfo]:
        """Return the fault rules for files, in the order in which they were added."""

        def read(control: Control) -> list[FileRuleInfo]:
            in_force = control.files.rules if control.has_files else ()
            return [file_rule_info(armed) for armed in _by_id([*self._file_rules, *in_force])]

        return self._ask(read)

    def verdict(self, topic: str) -> TopicVerdict:
        """Return the verdict on a topic. Raises CallError if there is none."""
        return self._ask(lambda control: read_verdict(control, VerdictQuery(topic=topic)))


def _by_id(rules: Sequence[Armed]) -> list[Armed]:
    """Return each rule once, in the order of the ids. A replaced rule has the id of the one in its place."""
    by_id = {armed.id: armed for armed in rules}
    return [by_id[rule_id] for rule_id in sorted(by_id)]

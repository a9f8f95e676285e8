"""The data of a report from a broker in another process, by its admin API."""

from __future__ import annotations

from http import HTTPStatus
from typing import TypeVar

from ...faults.rule_error import RuleError
from ...faults.strict_json import convert
from ...faults.verdict.topic_verdict import TopicVerdict
from ..errors import CallError
from ..operations.file_operations import FileRuleInfo
from ..operations.journal_operations import JournalPage
from ..operations.rule_models import RuleInfo
from ..operations.topic_operations import TopicInfo
from ..report.run_report import RecordedJournal, newest_of
from .admin_client import AdminClient, BadCall, JsonObject, Unreachable

Model = TypeVar("Model")


class ApiSource:
    """Reads the parts of a report. Every method raises BadCall and Unreachable."""

    def __init__(self, client: AdminClient) -> None:
        """client: of the broker's admin API."""
        self._client = client

    def journal(self, since: int) -> RecordedJournal:
        """Return the newest requests with a greater id, at most REQUESTS_MAX."""
        pages = [_read(page, JournalPage) for page in self._client.pages("/v1/journal", since=since)]
        entries = [entry for page in pages for entry in page.items]
        return newest_of(RecordedJournal(items=entries, dropped=pages[-1].dropped))

    def topics(self) -> list[TopicInfo]:
        """Return all topics."""
        return self._list("/v1/topics", TopicInfo)

    def rules(self) -> list[RuleInfo]:
        """Return the fault rules for requests and connections."""
        return self._list("/v1/rules", RuleInfo)

    def file_rules(self) -> list[FileRuleInfo]:
        """Return the fault rules for files; none of a broker without file faults."""
        try:
            return self._list("/v1/files", FileRuleInfo)
        except BadCall as error:
            if error.status == HTTPStatus.CONFLICT:
                return []
            raise

    def verdict(self, topic: str) -> TopicVerdict:
        """Return the verdict on a topic. Raises CallError if there is none."""
        try:
            return _read(self._client.call("GET", "/v1/verdict", topic=topic), TopicVerdict)
        except BadCall as error:
            if error.status in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:
                raise CallError(error.status or HTTPStatus.NOT_FOUND, str(error)) from error
            raise

    def _list(self, path: str, model: type[Model]) -> list[Model]:
        return [_read(item, model) for page in self._client.pages(path) for item in page["items"]]


def _read(fields: JsonObject, model: type[Model]) -> Model:
    """Return an object of a response as a model."""
    try:
        return convert(fields, model)
    except RuleError as error:
        raise Unreachable(f"the broker is of another version of fauxka: {error.message}") from error

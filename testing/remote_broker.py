"""A broker in another process or container, called through its admin API."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

from .. import testing
from ..admin.client.admin_client import AdminClient, BadCall, JsonObject, parse_address
from ..faults import strict_json
from ..faults.rules.fault_rules import FaultRule
from ..faults.rules.near_misses import NearMiss
from ..faults.rules.recipes import RecipeMethods
from ..faults.verdict.topic_verdict import TopicVerdict
from .acls import RemoteAcls
from .calls import AWAIT_TIMEOUT_MS
from .certificates import RemoteCertificates
from .errors import CallError, WaitTimeoutError
from .quotas import RemoteQuotas
from .remote_nodes import RemoteNodeMethods
from .sessions import RemoteSessions
from .users import RemoteUsers

TIMED_OUT = 408


class RemoteBroker(RemoteNodeMethods):
    """Faults, ACLs, certificates, quotas, sessions, users, verdict, nodes and reset of a broker by its admin API.

    They are the objects of Broker. Everything else that the admin API offers is a `call`. Raises CallError for a call
    that the broker refuses, RuleError for an invalid rule or argument, and Unreachable if nothing responds.
    """

    def __init__(self, admin: str, token: str | None = None, *, ca: str | os.PathLike[str] | None = None) -> None:
        """admin: "http://host:port", or "https://host:port". token: of --admin-token.

        ca: a file with the certificate of the authority of an API with HTTPS; None for the authorities of the system.
        Raises BadCall for a file that cannot be read.
        """
        self._client = AdminClient(parse_address(admin), token, None if ca is None else os.fspath(ca))
        self.faults = RemoteFaults(self)
        self.acls = RemoteAcls(self.call)
        self.certificates = RemoteCertificates(self.call)
        self.quotas = RemoteQuotas(self.call)
        self.sessions = RemoteSessions(self.call)
        self.users = RemoteUsers(self.call)

    def call(
        self, method: str, path: str, body: Struct | Mapping[str, object] | None = None, **query: object
    ) -> JsonObject:
        """Send a call of the admin API and return the body of its response."""
        content = None if body is None else strict_json.encode(body)
        try:
            return self._client.call(method, path, content, **query)
        except BadCall as error:
            raise _error_of(error) from None

    def verdict(self, topic: str, event_id: str | None = None) -> TopicVerdict:
        """Return the verdict on a topic; event_id: "key" or "header:NAME", to find copies that were sent as new."""
        verdict = self.call("GET", "/v1/verdict", topic=topic, event_id=event_id)
        return strict_json.convert(verdict, TopicVerdict)

    def write_report(self, path: str | os.PathLike[str], title: str | None = None, *, since: int = 0) -> Path:
        """Write the timeline, the verdicts, the fault rules and the topics as one HTML file; as Broker.write_report."""
        source = testing.report.source_of_client(self._client)
        try:
            return testing.report.write_report(source, path, title or self._client.address.url, since)
        except BadCall as error:
            raise _error_of(error) from None

    def reset(self, scope: str = "all") -> None:
        """Reset the broker; scope: all, data, faults or journal."""
        self.call("POST", "/v1/reset", {"scope": scope})


def _error_of(refusal: BadCall) -> CallError:
    message, body = str(refusal), refusal.body
    if refusal.status == TIMED_OUT and body is not None and "hits" in body:
        misses = strict_json.convert(body["near_misses"], list[NearMiss])
        return WaitTimeoutError(message, body["hits"], misses)
    return CallError(refusal.status or 400, message)


class RemoteFaults(RecipeMethods["RemoteRule"]):
    """The fault rules for requests and connections of a RemoteBroker.

    faults.lost_ack(topic="orders") arms a recipe of fauxka.faults.rules.recipes; faults.add arms any rule.
    """

    def __init__(self, broker: RemoteBroker) -> None:
        """broker: whose rules these are."""
        self._broker = broker

    def add(self, rule: FaultRule | Mapping[str, object], /) -> RemoteRule:
        """Arm a rule after the existing ones, from an object or the JSON of the admin API."""
        given = rule if isinstance(rule, FaultRule) else strict_json.convert(dict(rule), FaultRule)
        return RemoteRule(self._broker, self._broker.call("POST", "/v1/rules", given))

    def clear(self) -> None:
        """Remove all rules; held requests and hanging connections stay until a release or a reset."""
        self._broker.call("DELETE", "/v1/rules")


class RemoteRule:
    """The handle of a rule of a RemoteBroker. As a `with` block it removes the rule."""

    def __init__(self, broker: RemoteBroker, rule: Mapping[str, Any]) -> None:
        """rule: as the admin API returns it."""
        self._broker = broker
        self.id: int = rule["id"]
        self.name: str = rule["name"]

    @property
    def hits(self) -> int:
        """The requests that the rule has acted on."""
        hits: int = self._broker.call("GET", f"/v1/rules/{self.id}")["hits"]
        return hits

    def await_hits(self, count: int = 1, timeout_ms: int = AWAIT_TIMEOUT_MS) -> int:
        """Wait for at least count hits and return their number; raises WaitTimeoutError with the near misses."""
        path = f"/v1/rules/{self.id}/await"
        hits: int = self._broker.call("GET", path, hits=count, timeout_ms=timeout_ms)["hits"]
        return hits

    def remove(self) -> None:
        """Remove the rule. Raises CallError if it is not in force."""
        self._broker.call("DELETE", f"/v1/rules/{self.id}")

    def __enter__(self) -> Self:
        """Return the handle."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Remove the rule."""
        self.remove()

"""The admin interface of a broker: what a test, a scenario or a command can do to it, wherever it runs.

Made of admin/methods/broker.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

import os
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, overload

from ... import admin
from ...faults.strict_json import convert
from .. import async_methods, methods, operations
from ..paging import NamePage
from .nodes import AsyncNodeMethods

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...broker.replica.record_reader import StoredRecord
    from ...faults.consumption.group_verdict import GroupVerdict
    from ...faults.flow.flow_verdict import FlowVerdict
    from ...faults.verdict.topic_verdict import TopicVerdict
    from ..methods.records import ProcessedEvents, RecordFilter
    from ..operations.export_operations import Exported
    from ..operations.probe_operations import Version
    from ..operations.reset_operations import Scope
    from ..operations.verdict_summaries import VerdictSummary
    from ..report.run_report import RunReport


class AsyncBrokerMethods(AsyncNodeMethods):
    """The methods of Broker, and of RemoteBroker for a broker in another process or a container."""

    @cached_property
    def acls(self) -> async_methods.acls.AsyncAcls:
        """The ACLs: list, create and delete them."""
        return async_methods.acls.AsyncAcls(self._send)

    @cached_property
    def certificates(self) -> async_methods.certificates.AsyncCertificates:
        """The certificates of listeners with TLS: list them, and present other ones."""
        return async_methods.certificates.AsyncCertificates(self._send)

    @cached_property
    def clock(self) -> async_methods.clock.AsyncClock:
        """The clock of all timeouts and expiries of the broker."""
        return async_methods.clock.AsyncClock(self._send)

    @cached_property
    def faults(self) -> async_methods.rules.AsyncFaults:
        """The fault rules for requests and connections."""
        return async_methods.rules.AsyncFaults(self._send)

    @cached_property
    def files(self) -> async_methods.rules.AsyncFiles:
        """The fault rules for files."""
        return async_methods.rules.AsyncFiles(self._send)

    @cached_property
    def groups(self) -> async_methods.groups.AsyncGroups:
        """The groups with their members, assignments and committed offsets."""
        return async_methods.groups.AsyncGroups(self._send)

    @cached_property
    def held(self) -> async_methods.held.AsyncHeld:
        """The requests that fault rules hold."""
        return async_methods.held.AsyncHeld(self._send)

    @cached_property
    def journal(self) -> async_methods.journal.AsyncBrokerJournal:
        """The journal of requests."""
        return async_methods.journal.AsyncBrokerJournal(self._send)

    @cached_property
    def producers(self) -> async_methods.producers.AsyncProducers:
        """The state of idempotent producers in the partitions."""
        return async_methods.producers.AsyncProducers(self._send)

    @cached_property
    def quotas(self) -> async_methods.quotas.AsyncQuotas:
        """The quotas of clients: set, list and delete them."""
        return async_methods.quotas.AsyncQuotas(self._send)

    @cached_property
    def sessions(self) -> async_methods.sessions.AsyncSessions:
        """The SASL sessions of the clients."""
        return async_methods.sessions.AsyncSessions(self._send)

    @cached_property
    def snapshots(self) -> async_methods.snapshots.AsyncBrokerSnapshots:
        """The snapshots that the broker keeps."""
        return async_methods.snapshots.AsyncBrokerSnapshots(self._send)

    @cached_property
    def topics(self) -> async_methods.topics.AsyncTopics:
        """The topics: list, create, delete, seed with records, compact, and apply retention."""
        return async_methods.topics.AsyncTopics(self._send)

    @cached_property
    def transactions(self) -> async_methods.transactions.AsyncTransactions:
        """The transactional ids with the state of their transactions."""
        return async_methods.transactions.AsyncTransactions(self._send)

    @cached_property
    def users(self) -> async_methods.users.AsyncUsers:
        """The users with a password: list, change and remove them, revoke and expire their tokens."""
        return async_methods.users.AsyncUsers(self._send)

    async def records(
        self, topic: str, partition: int | None = None, **chosen: Unpack[RecordFilter]
    ) -> list[StoredRecord]:
        """Return the records in the log of a topic, decoded, sorted by partition and offset.

        partition: None for all. chosen: from_offset, to_offset (both included) and limit. Without a limit, more than
        100,000 records are a CallError. Transaction markers are records too (is_control), and so are the records of
        open and aborted transactions. Raises CallError for an unknown topic or partition, and for a damaged batch.
        """
        given = {**chosen, "partition": partition}
        limit = methods.records.check_limit(given.pop("limit", None))
        query = convert(given, operations.offset_pages.RecordQuery)
        path = operations.topic_operations.TopicPath(topic=topic)
        most = methods.records.RECORDS_MAX + 1 if limit is None else limit
        make = partial(methods.records.record_of, topic)
        found = await self._all_made(operations.record_operations.list_records, query, make, most, path=path)
        return methods.records.check_count(topic, found, limit)

    async def wait_for_records(self, topic: str, count: int = 1, timeout_ms: int = 5000) -> int:
        """Wait until a topic has count records that its replicas have, and return their number.

        Counted are the offsets up to the high watermark, those of transaction markers too. The topic may be created
        during the wait. timeout_ms: in real time.
        Raises WaitTimeoutError with the number, InvalidValueError for a wrong value.
        """
        waiting = operations.record_operations
        query = convert({"count": count, "timeout_ms": timeout_ms}, waiting.RecordsAwait)
        path = operations.topic_operations.TopicPath(topic=topic)
        waited = await self._perform(waiting.await_records, path=path, query=query)
        return waited.count

    @overload
    async def verdict(self, topic: str, event_id: str | None = None) -> TopicVerdict: ...

    @overload
    async def verdict(self, *, group: str) -> GroupVerdict: ...

    @overload
    async def verdict(
        self, *, from_topic: str, to_topic: str, event_id: str, group: str | None = None
    ) -> FlowVerdict: ...

    async def verdict(
        self,
        topic: str | None = None,
        event_id: str | None = None,
        *,
        group: str | None = None,
        from_topic: str | None = None,
        to_topic: str | None = None,
    ) -> TopicVerdict | GroupVerdict | FlowVerdict:
        """Return the delivery counts and findings of a topic, what a consumer group got twice or never, or what an
        application that reads from_topic has lost, doubled or reordered in to_topic.

        event_id: "value", "key", "header:NAME" or "json:order.id"; records with the same one are one event.
        group: with from_topic the one that reads it, for the reasons; it is needed if several groups do.
        Raises CallError for a topic or group that does not exist, RuleError for another event_id.
        """
        given = {"topic": topic, "event_id": event_id, "group": group, "from": from_topic, "to": to_topic}
        query = convert(given, operations.verdict_operations.VerdictQuery)
        return await self._perform(operations.verdict_operations.read_verdict, query=query)

    async def verdicts(self) -> list[VerdictSummary]:
        """Return the verdict on each topic in short, sorted by topic: the findings of each kind, and the counts."""
        return await self._all(operations.verdict_summaries.list_verdicts, NamePage())

    async def processed(
        self,
        topic: str,
        partition: int | None = None,
        offset: int | Iterable[int] | None = None,
        *,
        group: str,
        **events: Unpack[ProcessedEvents],
    ) -> None:
        """Report records as processed by the application of a group, which makes the verdict on the group exact.

        Give a partition with one offset or several, or one event or several with the event_id, such as event="A-17",
        event_id="header:id". A record that is reported twice was processed twice.
        Raises CallError for an unknown topic or partition, RuleError for wrong values.
        """
        given = {"group": group, "topic": topic, "partition": partition, "offset": offset, **events}
        listed = {name: methods.records.as_list(each) for name, each in given.items()}
        body = convert(listed, operations.processed_operations.Processed)
        await self._perform(operations.processed_operations.report_processed, body=body)

    async def version(self) -> Version:
        """Return the version of fauxka, and the cluster id and node id of the broker."""
        return await self._perform(operations.probe_operations.version)

    async def metrics(self) -> str:
        """Return the counters and gauges of the broker in Prometheus' text format."""
        text = await self._perform(operations.probe_operations.metrics)
        return text.decode()

    async def snapshot(self) -> int:
        """Copy logs, producers, topics, configs and committed offsets, and return the id of the copy for restore.

        Raises CallError if the cluster is on disk or the node is down.
        """
        taken = await self._perform(operations.snapshot_operations.snapshot)
        return taken.id

    async def restore(self, snapshot_id: int) -> None:
        """Restore a snapshot, any number of times; closes the connections, ends isolations, resets the verdict."""
        chosen = convert({"id": snapshot_id}, operations.snapshot_operations.SnapshotId)
        await self._perform(operations.snapshot_operations.restore, body=chosen)

    async def reset(self, scope: Scope = "all") -> None:
        """Reset the broker to its state after the start, at the same address.

        scope: "faults" removes the rules and closes the connections whose requests they hold. "journal" deletes the
        journal. "data" closes all connections, deletes topics, groups and producers, starts a node that is down, and
        sets the clock to real. No request received before is applied after it.
        """
        body = convert({"scope": scope}, operations.reset_operations.Reset)
        await self._perform(operations.reset_operations.reset, body=body)

    async def export(self, folder: str | os.PathLike[str]) -> Exported:
        """Write all topics to a folder on which a real Kafka starts, as `fauxka export` does.

        folder: a missing or empty one, on the broker's machine. Raises CallError.
        """
        body = operations.export_operations.Export(dir=os.fspath(folder))
        return await self._perform(operations.export_operations.export, body=body)

    async def run_report(self, title: str, *, since: int = 0) -> RunReport:
        """Return the timeline, the verdicts, the fault rules and the topics, as a report has them.

        The rules are those in force, and the removed ones that were added since faults.watch().
        """
        run = admin.report.run_report
        extent = await self._perform(operations.journal_operations.journal_extent)
        entries = await self.journal.entries(since=max(since, extent.last_id - run.REQUESTS_MAX))
        topics = await self.topics.list()
        names = run.judged_topics(entries, topics)
        state = run.BrokerState(topics=topics, verdicts=[], unjudged={}, rules=[], files=[])
        state.rules = await self.faults.infos()
        state.files = await self.files.infos()
        for name in names:
            with state.noting_unjudged(name):
                verdict = await self.verdict(name)
                state.verdicts.append(verdict)
        for group_id in run.judged_groups(entries, await self.groups.list()):
            with state.noting_unjudged_group(group_id):
                on_group = await self.verdict(group=group_id)
                state.groups.append(on_group)
        all_marks = await self.journal.marks()
        marks = [mark for mark in all_marks if mark.after_id >= since]
        dropped = extent.last_id - max(since, extent.cleared_id) - len(entries)
        journal = run.RecordedJournal(items=entries, dropped=max(0, dropped), marks=marks)
        return run.report_of(title, journal, state)

    async def write_report(self, path: str | os.PathLike[str], title: str | None = None, *, since: int = 0) -> Path:
        """Write the timeline, the verdicts, the fault rules and the topics as one HTML file, and return its path.

        title: at its head, by default the address. since: only requests with a greater id. Raises OSError.
        """
        report = await self.run_report(title or self._address, since=since)
        page = admin.report.report_page.report_page(report)
        written = Path(path)
        written.write_bytes(page)
        return written

    @property
    def _address(self) -> str:
        """The address of the broker, for the head of its report."""
        raise NotImplementedError

"""The stream of events: requests as they come and as their outcomes change, and the names of what changed."""

import http.client
import json
import socket
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fauxka.admin.event_stream import BEHIND_MAX, EVENT_BATCHES_MAX, EVENT_REQUESTS_MAX
from fauxka.admin.operations.event_operations import STREAMS_MAX
from fauxka.client.broker_connection import BrokerConnection
from fauxka.protocol.api_keys import ApiKey
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData

from ..broker.topic_client import PRODUCE_VERSION, TOPIC, TopicClient, batch
from ..serving_process import Serving, serving
from .admin_client import AdminClient

# Longer than any event takes on a machine that does much else.
EVENT_SECONDS_MAX = 20


@dataclass(frozen=True)
class Event:
    id: int
    name: str
    data: Any


class Stream:
    """An open stream of events."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self._response = response
        self.broker: str | None = None if response.status != 200 else self._opened()

    def _opened(self) -> str:
        """Return the broker of the event that a stream begins with."""
        name, data, end = (self._response.readline().decode() for _ in range(3))
        assert (name, data[:6], end) == ("event: opened\n", "data: ", "\n")
        broker: str = json.loads(data[6:])["broker"]
        return broker

    def next(self) -> Event:
        """Return the next event, but no marks: the tests of a module share a broker."""
        while (event := self.next_of_all()).name == "marks":
            pass
        return event

    def next_of_all(self) -> Event:
        """Return the next event; comments are skipped."""
        fields: dict[str, str] = {}
        while True:
            line = self._response.readline().decode()
            assert line, "the stream has ended"
            if line == "\n" and "data" in fields:
                return Event(int(fields["id"]), fields["event"], json.loads(fields["data"]))
            name, _, value = line.rstrip("\n").partition(": ")
            fields[name] = value

    def until(self, is_wanted: Callable[[Event], bool]) -> Event:
        """Return the first wanted event."""
        while True:
            event = self.next()
            if is_wanted(event):
                return event

    def rest(self) -> bytes:
        return self._response.read()


@contextmanager
def streaming(admin: AdminClient, path: str = "/v1/events", headers: dict[str, str] | None = None) -> Generator[Stream]:
    with closing(http.client.HTTPConnection(admin.address, timeout=EVENT_SECONDS_MAX)) as connection:
        connection.request("GET", path, headers=headers or {})
        yield Stream(connection.getresponse())


def newest_id(admin: AdminClient) -> int:
    """Return the id of the newest request in the journal; 0 if it is empty."""
    items = admin.get("/v1/journal", limit=10_000)["items"]
    return int(items[-1]["id"]) if items else 0


@pytest.fixture
def client(broker: Serving, admin: AdminClient) -> Iterator[TopicClient]:
    with TopicClient(broker.bootstrap) as connected:
        yield connected


def test_requests_from_before_the_stream_come_first(admin: AdminClient, client: TopicClient) -> None:
    client.produce(0)

    with streaming(admin) as stream:
        event = stream.next()

    assert event.name == "requests"
    assert event.data == {"items": admin.get("/v1/journal")["items"], "skipped": 0}
    assert event.id == newest_id(admin)


def test_streams_of_one_process_name_the_same_broker_and_another_process_another_one(
    admin: AdminClient, tmp_path: Path
) -> None:
    with streaming(admin) as stream, streaming(admin) as second:
        assert stream.broker == second.broker
    with serving(tmp_path, "--admin-port", "0") as other, streaming(AdminClient(other.admin or "")) as third:
        assert third.broker != stream.broker


def test_request_comes_while_the_stream_is_open(admin: AdminClient, client: TopicClient) -> None:
    with streaming(admin) as stream:
        client.produce(0)
        event = stream.next()

    (item,) = event.data["items"]
    assert (item["api"], item["batches"][0]["decision"]) == ("Produce", "appended")


def test_client_continues_after_the_last_request_that_it_has(admin: AdminClient, client: TopicClient) -> None:
    client.produce(0)
    seen = newest_id(admin)
    client.produce(1)

    with streaming(admin, f"/v1/events?since={seen}") as by_query:
        first = by_query.next()
    with streaming(admin, "/v1/events?since=0", {"Last-Event-ID": str(seen)}) as by_header:
        second = by_header.next()

    assert [item["batches"][0]["base_sequence"] for item in first.data["items"]] == [1]
    assert first == second


def test_pending_response_is_sent_again_when_it_is_written(admin: AdminClient, client: TopicClient) -> None:
    with streaming(admin) as stream:
        client.send_fetch(max_wait_ms=400, offset=client.produce(0).base_offset + 1)
        waiting = stream.until(lambda event: event.name == "requests" and event.data["items"][-1]["api"] == "Fetch")
        written = stream.until(lambda event: event.name == "requests")

    assert waiting.data["items"][-1]["answer"] == "waiting"
    assert [(item["id"], item["answer"]) for item in written.data["items"]] == [
        (waiting.data["items"][-1]["id"], "written")
    ]


def test_held_request_is_sent_again_when_it_is_applied(admin: AdminClient, client: TopicClient) -> None:
    admin.post("/v1/rules", {"match": {"api": "Produce"}, "point": "received", "action": {"kind": "hold"}})
    with streaming(admin) as stream:
        client.send_produce(0)
        held = stream.until(lambda event: event.name == "requests")
        (listed,) = admin.get("/v1/held")["items"]
        admin.post(f"/v1/held/{listed['id']}/release")
        applied = stream.until(lambda event: event.name == "requests")

    decisions = [event.data["items"][0]["batches"][0]["decision"] for event in (held, applied)]
    assert decisions == ["not_applied", "appended"]
    assert held.data["items"][0]["id"] == applied.data["items"][0]["id"]


def test_names_of_what_changed_are_sent(admin: AdminClient, client: TopicClient) -> None:
    with streaming(admin) as stream:
        admin.post("/v1/topics", {"name": "changed-topic"})
        topics = stream.until(lambda event: event.name == "changed" and "topics" in event.data)
        rule = admin.post("/v1/rules", {"point": "applied", "action": {"kind": "observe"}})
        # The node of the topic leads one more partition, which may be told by an event between.
        rules = stream.until(lambda event: event.name == "changed" and "rules" in event.data)

    admin.delete("/v1/topics/changed-topic")
    assert topics.data["topics"] == ["changed-topic"]
    assert rules.data["rules"] == [str(rule["id"])]


def test_hits_of_a_rule_are_a_change(admin: AdminClient, client: TopicClient) -> None:
    rule = admin.post("/v1/rules", {"point": "applied", "action": {"kind": "observe"}})
    with streaming(admin) as stream:
        client.produce(0)
        changed = stream.until(lambda event: event.name == "changed" and "rules" in event.data)

    assert changed.data["rules"] == [str(rule["id"])]


def test_mode_of_the_clock_is_a_change_and_its_time_is_none(admin: AdminClient) -> None:
    with streaming(admin) as stream:
        admin.post("/v1/clock", {"mode": "manual"})
        changed = stream.until(lambda event: event.name == "changed")
        admin.post("/v1/clock", {"mode": "real"})

    assert changed.data == {"clock": ["clock"]}


def test_cleared_journal_is_told_and_its_requests_are_not_sent(admin: AdminClient, client: TopicClient) -> None:
    client.produce(0)
    with streaming(admin) as stream:
        last = stream.next()
        admin.delete("/v1/journal")
        cleared = stream.next()
        client.produce(1)
        following = stream.until(lambda event: event.name == "requests")

    assert (cleared.name, cleared.data) == ("cleared", {"through": last.id})
    assert [item["batches"][0]["base_sequence"] for item in following.data["items"]] == [1]


def test_client_that_knows_requests_of_an_earlier_process_is_told_to_forget_them(
    admin: AdminClient, client: TopicClient
) -> None:
    client.produce(0)
    known = newest_id(admin) + 1000

    with streaming(admin, f"/v1/events?since={known}") as stream:
        cleared, following = stream.next(), stream.next()

    assert (cleared.name, cleared.data) == ("cleared", {"through": known})
    assert following.data["items"] == admin.get("/v1/journal")["items"]


def test_stream_that_is_too_late_skips_and_tells_how_many(admin: AdminClient, client: TopicClient) -> None:
    count = BEHIND_MAX + 250
    for first in range(0, count, 50):
        client.send_produce(*range(first, first + 50))
        for _ in range(50):
            client.receive_produced()

    with streaming(admin) as stream:
        event = stream.next()

    assert len(event.data["items"]) == EVENT_REQUESTS_MAX
    assert event.data["skipped"] == 250


def test_event_ends_with_the_request_that_fills_it_with_batches(admin: AdminClient, broker: Serving) -> None:
    partitions = EVENT_BATCHES_MAX * 3 // 5
    data = [PartitionProduceData(index=index, records=batch(0)) for index in range(partitions)]
    request = ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name=TOPIC, partition_data=data)])
    since = newest_id(admin)
    host, _, port = broker.bootstrap.rpartition(":")
    with BrokerConnection(host, int(port), timeout_seconds=EVENT_SECONDS_MAX, response_bytes_max=1 << 20) as connection:
        for _ in range(3):
            connection.send_request(ApiKey.PRODUCE, PRODUCE_VERSION, request, ProduceResponse.read)

    with streaming(admin, f"/v1/events?since={since}") as stream:
        first, second = (stream.until(lambda event: event.name == "requests") for _ in range(2))

    assert [len(event.data["items"]) for event in (first, second)] == [2, 1]
    assert {len(entry["batches"]) for entry in (*first.data["items"], *second.data["items"])} == {partitions}


def test_client_that_does_not_read_does_not_stop_the_others(admin: AdminClient, client: TopicClient) -> None:
    host, _, port = admin.address.rpartition(":")
    with socket.create_connection((host, int(port))) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for sequence in range(0, 2000, 50):
            client.send_produce(*range(sequence, sequence + 50))
            for _ in range(50):
                client.receive_produced()
        with streaming(admin, f"/v1/events?since={newest_id(admin)}") as stream:
            client.produce(2000)
            event = stream.until(lambda one: one.name == "requests")

    assert event.data["items"][0]["batches"][0]["base_sequence"] == 2000


def test_stream_ends_after_its_timeout(admin: AdminClient) -> None:
    began = time.monotonic()
    with streaming(admin, "/v1/events?timeout_ms=300") as stream:
        stream.rest()

    assert 0.3 <= time.monotonic() - began < EVENT_SECONDS_MAX


def test_closed_streams_make_room_for_others(admin: AdminClient) -> None:
    for _ in range(STREAMS_MAX + 1):
        with streaming(admin) as stream:
            assert stream.status == 200


def test_stream_beyond_the_limit_is_503(admin: AdminClient) -> None:
    with ExitStack() as opened:
        statuses = [opened.enter_context(streaming(admin)).status for _ in range(STREAMS_MAX + 1)]

    assert statuses == [200] * STREAMS_MAX + [503]


def test_id_that_is_none_is_400(admin: AdminClient) -> None:
    answer = admin.call("GET", "/v1/events", headers={"Last-Event-ID": "x"})

    assert (answer.status, answer.error["field"]) == (400, "Last-Event-ID")


def test_head_has_the_headers_and_ends(admin: AdminClient) -> None:
    answer = admin.call("HEAD", "/v1/events")

    assert (answer.status, answer.content) == (200, b"")
    assert answer.headers["content-type"].startswith("text/event-stream")

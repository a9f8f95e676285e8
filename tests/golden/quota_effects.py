"""The effect of client quotas, for capture_quotas: throttle times, empty responses, muted connections.

The first record of a client decides its throttle time exactly: Kafka's rate is that of ten whole windows of a second,
so that size bytes above a quota of bound bytes a second are throttled for (size / 10 - bound) / bound * 10 s. A later
one depends on the time between them, and is captured in words.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages import create_partitions, create_topics, delete_topics, fetch, metadata, produce
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.primitives import Writer

from ..wire.message_client import MessageClient
from ..wire.wire_connection import ConnectionClosedError
from . import capture_batches
from .capture_recorder import Recorder
from .quota_requests import altering, entry

TOPIC = "quotas"
ANONYMOUS = "ANONYMOUS"
# The cases of mutations whose next request is waited for.
WAITING = ("CreateTopics v7", "DeleteTopics v6")
# A throttle time is at most this much shorter or longer than the formula says, because of what passes in between.
SLACK_MS = 900
VARINTS_MAX = 10
# A timer may fire early, and the wait is measured from the response on.
TICK_MS = 100
# A bucket of 11 tokens, and one more a second: this many mutations leave it empty, with a debt of 2 seconds.
MUTATION_RATE = 1
MUTATIONS = 13
DEBT_MS = 2000


def capture(recorder: Recorder) -> None:
    """Record every case."""
    recorder.create_topic(TOPIC)
    _precedence(recorder)
    _produce(recorder)
    _fetch(recorder)
    _mutations(recorder)
    _request_time(recorder)
    _connections(recorder)


class _Client(MessageClient):
    """A client with a client id that no other case uses, and so with unused quotas."""

    def __init__(self, recorder: Recorder, client_id: str) -> None:
        super().__init__(recorder.bootstrap, client_id)
        self.client_id = client_id
        self._recorder = recorder

    def set(self, key: str, value: float | None, entity: Mapping[str, str | None] | None = None) -> None:
        """Set a quota of the client id, or of another entity; None removes it."""
        set_quota(self._recorder, {"client-id": self.client_id} if entity is None else entity, key, value)

    def waits_for(self, throttle_ms: int) -> str:
        """Return whether the next request waits for the throttle time."""
        started = time.monotonic()
        self.call(ApiVersionsRequest(), 0)
        waited_ms = (time.monotonic() - started) * 1000
        is_about = throttle_ms - TICK_MS <= waited_ms <= throttle_ms + SLACK_MS
        return "waits for its throttle time" if is_about else f"waits {waited_ms:.0f} ms, not {throttle_ms} ms"

    def produce(self, size: int, *, version: int = 9, acks: int = 1) -> int:
        """Produce a request of size bytes, and return its throttle time."""
        response = self.call(producing(size, self.client_id, acks=acks), version, produce.ProduceResponse)
        assert response.responses[0].partition_responses[0].error_code == 0, response
        return response.throttle_time_ms


def set_quota(recorder: Recorder, entity: Mapping[str, str | None], key: str, value: float | None) -> None:
    """Set a quota, and return when the broker applies it."""
    recorder.call(altering(entry(entity, {key: value})), 1)
    recorder.settle()


def producing(size: int, client_id: str, *, acks: int = 1) -> produce.ProduceRequest:
    """Return a Produce of version 9 whose frame has size bytes behind its size."""
    value_size = size
    # The lengths in the batch and in the request are varints, so that not every size is possible.
    for _ in range(VARINTS_MAX):
        request = _producing(b"x" * value_size, acks)
        excess = _size_of(request, client_id) - size
        if not excess:
            return request
        value_size -= excess
    raise AssertionError(f"no request has {size} bytes")


def _producing(value: bytes, acks: int) -> produce.ProduceRequest:
    data = produce.PartitionProduceData(index=0, records=capture_batches.batch(value=value))
    topic = produce.TopicProduceData(name=TOPIC, partition_data=[data])
    return produce.ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=[topic])


def _size_of(request: produce.ProduceRequest, client_id: str) -> int:
    writer = Writer()
    request.write(writer, 9)
    # API key, version, correlation id, length of the client id, no tagged fields.
    return 2 + 2 + 4 + 2 + len(client_id) + 1 + len(writer.getvalue())


def fetching(position: int, max_bytes: int = 50_000_000) -> fetch.FetchRequest:
    """Return a Fetch of the topic from that offset on, without a session."""
    asked = fetch.FetchPartition(partition=0, fetch_offset=position, partition_max_bytes=max_bytes)
    return fetch.FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=max_bytes,
        session_id=0,
        session_epoch=-1,
        topics=[fetch.FetchTopic(topic=TOPIC, partitions=[asked])],
    )


def _about(throttle_ms: float, expected_ms: float) -> str:
    is_about = abs(throttle_ms - expected_ms) <= SLACK_MS
    return f"about {expected_ms:.0f} ms" if is_about else f"{throttle_ms:.0f} ms, not {expected_ms:.0f} ms"


def _precedence(recorder: Recorder) -> None:
    """Which quota applies: the quota of each entity has another throttle time for the same request.

    Those of users alone are left out: the users of all cases share one rate.
    """
    entities: list[dict[str, str | None]] = [
        {"user": ANONYMOUS, "client-id": "CLIENT"},
        {"user": ANONYMOUS, "client-id": None},
        {"user": None, "client-id": "CLIENT"},
        {"user": None, "client-id": None},
        {"client-id": "CLIENT"},
        {"client-id": None},
    ]
    for number, tested in enumerate(entities):
        client = _Client(recorder, f"precedence-{number}")
        # All quotas from this one on are set, so that this one takes precedence.
        quotas = [
            ({kind: client.client_id if name == "CLIENT" else name for kind, name in entity.items()}, 1000.0 + 10 * at)
            for at, entity in enumerate(entities)
            if at >= number
        ]
        for entity, value in quotas:
            client.set("producer_byte_rate", value, entity)
        recorder.outcome(f"precedence: {tested}", f"{client.produce(12_000)} ms")
        for entity, _ in quotas:
            client.set("producer_byte_rate", None, entity)
        client.close()


def _produce(recorder: Recorder) -> None:
    for acks in (1, -1):
        client = _Client(recorder, f"produce-{acks}")
        client.set("producer_byte_rate", 10_000)
        recorder.outcome(f"produce, acks={acks}: below the quota", f"{client.produce(90_000, acks=acks)} ms")
        throttle_ms = client.produce(30_000, acks=acks)
        recorder.outcome(f"produce, acks={acks}: above the quota", _about(throttle_ms, 2000))
        recorder.outcome(f"produce, acks={acks}: next request", client.waits_for(throttle_ms))
        client.close()
    client = _Client(recorder, "produce-once")
    client.set("producer_byte_rate", 10_000)
    recorder.outcome("produce: first request at the quota", f"{client.produce(100_000)} ms")
    client.close()
    for name, size, bound in (("just above", 100_010, 10_000), ("twice", 20_000, 1000), ("far above", 100_000, 100)):
        client = _Client(recorder, f"produce-{name}")
        client.set("producer_byte_rate", bound)
        recorder.outcome(f"produce: first request {name} the quota", f"{client.produce(size)} ms")
        client.close()
    _without_acknowledgement(recorder)
    client = _Client(recorder, "produce-changed")
    client.set("producer_byte_rate", 1_000_000)
    recorder.outcome("produce: before the quota is lowered", f"{client.produce(90_000)} ms")
    client.set("producer_byte_rate", 8_000)
    recorder.outcome("produce: after the quota is lowered", _about(client.produce(1000), 1375))
    client.set("producer_byte_rate", None)
    client.waits_for(0)
    recorder.outcome("produce: after the quota is removed", f"{client.produce(90_000)} ms")
    client.close()


def _without_acknowledgement(recorder: Recorder) -> None:
    client = _Client(recorder, "produce-0")
    client.set("producer_byte_rate", 10_000)
    client.send(producing(110_000, client.client_id, acks=0), 9)
    recorder.outcome("produce, acks=0: next request", client.waits_for(1000))
    client.close()


def _fetch(recorder: Recorder) -> None:
    first = _end_offset(recorder)
    batches = [capture_batches.batch(value=b"x" * 59_000) for _ in range(2)]
    recorder.produce(TOPIC, *batches, capture_batches.batch(value=b"x" * 200_000))
    client = _Client(recorder, "fetch")
    client.set("consumer_byte_rate", 10_000)
    one_batch = 59_900
    _fetch_case(recorder, client, "below the quota", fetching(first, one_batch), 0)
    _fetch_case(recorder, client, "above the quota", fetching(first + 1, one_batch), 1830)
    _fetch_case(recorder, client, "a batch larger than the quota", fetching(first + 2), 15_500)
    client.close()
    _fetch_in_session(recorder, first)


def _end_offset(recorder: Recorder) -> int:
    response = recorder.call(fetching(0, 1), 11, fetch.FetchResponse)
    return response.responses[0].partitions[0].high_watermark


def _fetch_case(
    recorder: Recorder, client: _Client, case: str, request: fetch.FetchRequest, expected_ms: int
) -> fetch.FetchResponse:
    response = client.call(request, 11, fetch.FetchResponse)
    size = sum(
        len(partition.records or b"") // 10_000 * 10_000
        for topic in response.responses
        for partition in topic.partitions
    )
    told = f"about {size} bytes in {len(response.responses)} topics, session {response.session_id > 0}"
    recorder.outcome(f"fetch: {case}", f"{told}, {_about(response.throttle_time_ms, expected_ms)}")
    if 0 < response.throttle_time_ms < 5000:
        recorder.outcome(f"fetch: {case}, next request", client.waits_for(response.throttle_time_ms))
    return response


def _fetch_in_session(recorder: Recorder, first: int) -> None:
    """An incremental session that is throttled loses nothing."""
    client = _Client(recorder, "fetch-session")
    client.set("consumer_byte_rate", 10_000)
    request = fetching(first, 59_900)
    request.session_epoch = 0
    response = _fetch_case(recorder, client, "a new session", request, 0)
    request = fetching(first + 1, 59_900)
    request.session_id, request.session_epoch = response.session_id, 1
    _fetch_case(recorder, client, "throttled in the session", request, 1830)
    client.set("consumer_byte_rate", 1_000_000)
    request.session_epoch, request.topics = 2, []
    _fetch_case(recorder, client, "again in the session", request, 0)
    client.close()


def creating(name: str, partition_count: int, *, validate_only: bool = False) -> create_topics.CreateTopicsRequest:
    """Return a CreateTopics of one topic."""
    topic = create_topics.CreatableTopic(name=name, num_partitions=partition_count, replication_factor=1)
    return create_topics.CreateTopicsRequest(topics=[topic], timeout_ms=30_000, validate_only=validate_only)


def growing(name: str, count: int) -> create_partitions.CreatePartitionsRequest:
    """Return a CreatePartitions of one topic."""
    topic = create_partitions.CreatePartitionsTopic(name=name, count=count, assignments=None)
    return create_partitions.CreatePartitionsRequest(topics=[topic], timeout_ms=30_000)


def deleting(name: str, version: int) -> delete_topics.DeleteTopicsRequest:
    """Return a DeleteTopics of one topic."""
    if version >= 6:
        return delete_topics.DeleteTopicsRequest(topics=[delete_topics.DeleteTopicState(name=name)], timeout_ms=30_000)
    return delete_topics.DeleteTopicsRequest(topic_names=[name], timeout_ms=30_000)


def _mutations(recorder: Recorder) -> None:
    """Each case has a bucket of its own, and empties it first. Older versions are served all the same."""
    permissive_ms = DEBT_MS + 4000
    for version, expected_ms in ((5, permissive_ms), (6, DEBT_MS), (7, DEBT_MS)):
        _mutation(recorder, f"CreateTopics v{version}", creating(f"created-{version}", 4), version, expected_ms)
    for version, expected_ms in ((2, permissive_ms), (3, DEBT_MS)):
        recorder.create_topic(f"grown-{version}")
        growth = growing(f"grown-{version}", 5)
        _mutation(recorder, f"CreatePartitions v{version}", growth, version, expected_ms)
    for version, expected_ms in ((4, permissive_ms), (5, DEBT_MS), (6, DEBT_MS)):
        recorder.create_topic(f"deleted-{version}", 4)
        deletion = deleting(f"deleted-{version}", version)
        _mutation(recorder, f"DeleteTopics v{version}", deletion, version, expected_ms)
    _mutation(recorder, "CreateTopics that fails", creating("bad name", 4), 7, 0)
    _mutation(recorder, "CreatePartitions that fails", growing("missing", 4), 3, 0)
    _mutation(recorder, "DeleteTopics that fails", deleting("missing", 6), 6, 0)
    _mutation(recorder, "CreateTopics of validate only", creating("v", 4, validate_only=True), 7, DEBT_MS)
    client = _mutator(recorder, "several")
    request = creating("several-1", 12)
    request.topics += creating("several-2", 4).topics + creating("several-3", 1).topics
    _mutation_outcome(recorder, "several topics", client.call(request, 7), 1000)
    client.close()
    client = _mutator(recorder, "validated")
    for case in ("first", "second"):
        request = creating("v", MUTATIONS, validate_only=True)
        _mutation_outcome(recorder, f"{case} of validate only", client.call(request, 7), DEBT_MS * (case == "second"))
    client.close()


def _mutator(recorder: Recorder, name: str) -> _Client:
    client = _Client(recorder, f"mutations of {name}")
    client.set("controller_mutation_rate", MUTATION_RATE)
    return client


def _mutation(recorder: Recorder, case: str, request: RequestMessage, version: int, expected_ms: int) -> None:
    client = _mutator(recorder, case)
    first = client.call(creating(f"first-of-{case.replace(' ', '-')}", MUTATIONS), 7)
    _mutation_outcome(recorder, f"{case}: first", first, 0)
    throttle_ms = _mutation_outcome(recorder, f"{case}: above the quota", client.call(request, version), expected_ms)
    if case in WAITING:
        recorder.outcome(f"mutations: {case}: next request", client.waits_for(throttle_ms))
    client.close()


def _mutation_outcome(recorder: Recorder, case: str, response: object, expected_ms: int) -> int:
    if isinstance(response, create_topics.CreateTopicsResponse):
        results = [(topic.error_code, topic.error_message) for topic in response.topics]
    elif isinstance(response, create_partitions.CreatePartitionsResponse):
        results = [(result.error_code, result.error_message) for result in response.results]
    else:
        assert isinstance(response, delete_topics.DeleteTopicsResponse)
        results = [(result.error_code, result.error_message) for result in response.responses]
    throttle_ms = response.throttle_time_ms
    recorder.outcome(f"mutations: {case}", f"{sorted(results, key=str)}, {_about(throttle_ms, expected_ms)}")
    return throttle_ms


def _request_time(recorder: Recorder) -> None:
    client = _Client(recorder, "request-time")
    client.set("request_percentage", 1e-6)
    request = metadata.MetadataRequest(topics=[])
    response = client.call(request, 12, metadata.MetadataResponse)
    # At most a window: far above the quota, it is a window.
    recorder.outcome("request time: Metadata", f"{response.throttle_time_ms} ms")
    recorder.outcome("request time: next request", client.waits_for(response.throttle_time_ms))
    recorder.outcome("request time: Produce", f"{client.produce(1000)} ms")
    fetched = client.call(fetching(0, 1), 11, fetch.FetchResponse)
    recorder.outcome("request time: Fetch", f"{len(fetched.responses)} topics, {fetched.throttle_time_ms} ms")
    created = client.call(creating("by-request-time", 1), 7)
    _mutation_outcome(recorder, "CreateTopics above the request time", created, 1000)
    client.close()


def _connections(recorder: Recorder) -> None:
    """The quota allows ten connections in ten windows. The next one is closed after the throttle time."""
    address = {"ip": "127.0.0.2"}
    set_quota(recorder, address, "connection_creation_rate", 1)
    outcomes: list[str] = []
    for _ in range(12):
        started = time.monotonic()
        is_served = _is_served(recorder, address["ip"])
        waited_ms = (time.monotonic() - started) * 1000
        outcomes.append("served" if is_served else f"closed after {_about(waited_ms, 1000)}")
    for number, outcome in enumerate(outcomes, 1):
        recorder.outcome(f"connections: connection {number}", outcome)
    set_quota(recorder, address, "connection_creation_rate", None)
    is_served = _is_served(recorder, address["ip"])
    recorder.outcome("connections: after the quota is removed", "served" if is_served else "closed")


def _is_served(recorder: Recorder, source: str) -> bool:
    with MessageClient(recorder.bootstrap, "connections", source=source) as connection:
        try:
            connection.call(ApiVersionsRequest(), 0)
        except ConnectionClosedError:
            return False
    return True

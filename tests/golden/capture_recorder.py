"""Sends cases to a broker and writes what it answered, one JSON object a line: what the capture programs share.

A line holds case, api, version, sent and answer. Every field that has not its default is written, with names in place
of what differs between two runs of the same broker (see capture_normal_form.py), so that two brokers are compared by
comparing lines.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import TextIO, overload

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages import create_topics, describe_configs, incremental_alter_configs, list_offsets, metadata
from fauxka.protocol.messages import produce as produce_messages
from fauxka.protocol.primitives import ZERO_UUID

from ..wire.message_client import MessageClient, Response
from ..wire.wire_connection import ConnectionClosedError
from .capture_normal_form import Json, NormalForm

# A broker that has just created a topic elects its leaders within milliseconds; on a busy machine within seconds.
SETTLE_SECONDS_MAX = 30.0
POLL_SECONDS = 0.02
# How long a request that waits is given to reach the broker, before another connection sends the next one.
ARRIVAL_SECONDS = 0.3
TOPIC_RESOURCE = 2
MARKER = "settle-marker"


class Recorder:
    """One run of a capture program against one fresh broker."""

    def __init__(self, bootstrap: str, output: TextIO, marker: str = MARKER) -> None:
        """Connect to the broker at "host:port"; lines go to output. marker: the topic of settle, which creates it."""
        self.connection = MessageClient(bootstrap)
        self.normal_form = NormalForm(bootstrap)
        self.topic_ids: dict[str, bytes] = {}
        self.bootstrap = bootstrap
        self._output = output
        self._marker = marker
        self._markers = 0
        # Lets a time pass on the broker's clock. Replaced where that clock can be advanced.
        self.pass_ms: Callable[[int], object] = _sleep_ms

    def case(self, case: str, version: int, request: RequestMessage, **remarks: Json) -> object | None:
        """Send the request, write the line, return the response (None if there was none)."""
        answer, response = self._answer(request, version)
        self._write(case, request, version, answer, remarks)
        return response

    def outcome(self, case: str, outcome: str) -> None:
        """Write what became of a connection, for a capture program with connections of its own."""
        line = {"case": case, "api": "connection", "version": 0, "answer": outcome}
        self._output.write(json.dumps(line) + "\n")
        self._output.flush()

    def stored(self, case: str, records: Json) -> None:
        """Write records that the broker has stored."""
        line: dict[str, Json] = {"case": case, "api": "records", "version": 0, "answer": records}
        self._output.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._output.flush()

    def timed_case(self, case: str, version: int, request: RequestMessage, *, bound_ms: int) -> object | None:
        """Like case, and says whether the answer came before or after bound_ms."""
        started = time.monotonic()
        answer, response = self._answer(request, version)
        self._write(case, request, version, answer, {"time": _waited(started, bound_ms)})
        return response

    def overtaken_case(
        self, case: str, version: int, request: RequestMessage, meanwhile: Callable[[], None], *, bound_ms: int
    ) -> None:
        """Like timed_case. While the request waits, meanwhile records cases over another connection.

        Their lines come first.
        """
        waiting, self.connection = self.connection, MessageClient(self.bootstrap)
        started = time.monotonic()
        waiting.send(request, version)
        time.sleep(ARRIVAL_SECONDS)
        meanwhile()
        self.connection.close()
        self.connection = waiting
        answer = self.normal_form.of(waiting.receive())
        self._write(case, request, version, answer, {"time": _waited(started, bound_ms)})

    def each_version(self, case: str, versions: Iterable[int], build: Callable[[int], RequestMessage]) -> None:
        """Record the case once a version."""
        for version in versions:
            self.case(case, version, build(version))

    @overload
    def call(self, request: RequestMessage, version: int) -> object: ...
    @overload
    def call(self, request: RequestMessage, version: int, response_class: type[Response]) -> Response: ...
    def call(self, request: RequestMessage, version: int, response_class: type[object] = object) -> object:
        """Send the request without writing a line, and return the response."""
        return self.connection.call(request, version, response_class)

    def reconnect(self) -> None:
        """Start a new connection, after one that the broker closed."""
        self.connection.close()
        self.connection = MessageClient(self.bootstrap)

    def create_topic(self, name: str, partition_count: int = 1, **configs: str) -> bytes:
        """Create a topic, wait until it can be used, return its id. Underscores in config names stand for dots."""
        entries = [
            create_topics.CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ]
        topic = create_topics.CreatableTopic(
            name=name, num_partitions=partition_count, replication_factor=1, configs=entries
        )
        response = self.call(
            create_topics.CreateTopicsRequest(topics=[topic], timeout_ms=30_000), 7, create_topics.CreateTopicsResponse
        )
        assert response.topics[0].error_code == 0, response.topics[0]
        topic_id = response.topics[0].topic_id
        self.topic_ids[name] = topic_id
        self.normal_form.name_topic_id(topic_id, name)
        self.wait_for_topic(name, partition_count)
        return topic_id

    def wait_for_topic(self, name: str, partition_count: int) -> None:
        """Return when every partition of the topic has a leader that answers."""
        self.wait(lambda: self._is_ready(name, partition_count), f"topic {name} with {partition_count} partitions")

    def topic_id_of(self, name: str) -> bytes:
        """Return the id of an existing topic, ZERO_UUID for one that does not exist, and name it in what follows."""
        response = self.call(
            metadata.MetadataRequest(
                topics=[metadata.MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
            ),
            12,
            metadata.MetadataResponse,
        )
        topic_id = response.topics[0].topic_id
        if topic_id != ZERO_UUID:
            self.normal_form.name_topic_id(topic_id, name)
        return topic_id

    def produce(self, topic: str, *batches: bytes, partition: int = 0) -> None:
        """Append the batches one by one; every one must be accepted."""
        for records in batches:
            data = produce_messages.PartitionProduceData(index=partition, records=records)
            topic_data = produce_messages.TopicProduceData(name=topic, partition_data=[data])
            request = produce_messages.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic_data])
            response = self.call(request, 9, produce_messages.ProduceResponse)
            answer = response.responses[0].partition_responses[0]
            assert answer.error_code == 0, answer

    def settle(self) -> None:
        """Return when the broker has applied every change that was answered before.

        Kafka answers a change when the controller has committed it; the broker learns of it, in order, a little later.
        So a marker is changed too, and when that can be read, so can all that came before.
        """
        if not self._markers:
            self.create_topic(self._marker)
        self._markers += 1
        value = str(1_000_000 + self._markers)
        entry = incremental_alter_configs.AlterableConfig(name="retention.ms", config_operation=0, value=value)
        resource = incremental_alter_configs.AlterConfigsResource(
            resource_type=TOPIC_RESOURCE, resource_name=self._marker, configs=[entry]
        )
        self.call(incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[resource]), 1)
        self.wait(lambda: self._marker_value() == value, "the marker's retention.ms")

    def _answer(self, request: RequestMessage, version: int) -> tuple[Json, object | None]:
        try:
            response = self.connection.call(request, version)
        except ConnectionClosedError:
            self.reconnect()
            return "CONNECTION_CLOSED", None
        except TimeoutError:
            self.reconnect()
            return "NO_RESPONSE", None
        self.normal_form.learn_topic_ids(response)
        return self.normal_form.of(response), response

    def _write(self, case: str, request: RequestMessage, version: int, answer: Json, remarks: dict[str, Json]) -> None:
        api = type(request).__name__.removesuffix("Request")
        line: dict[str, Json] = {"case": case, "api": api, "version": version}
        line |= {"sent": self.normal_form.of(request), "answer": answer}
        self._output.write(json.dumps(line | remarks, ensure_ascii=False) + "\n")
        self._output.flush()

    def _is_ready(self, name: str, partition_count: int) -> bool:
        response = self.call(
            metadata.MetadataRequest(
                topics=[metadata.MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
            ),
            12,
            metadata.MetadataResponse,
        )
        partitions = response.topics[0].partitions
        if len(partitions) != partition_count or any(partition.leader_id < 0 for partition in partitions):
            return False
        asked = [
            list_offsets.ListOffsetsPartition(partition_index=index, timestamp=-1) for index in range(partition_count)
        ]
        topic = list_offsets.ListOffsetsTopic(name=name, partitions=asked)
        offsets = self.call(
            list_offsets.ListOffsetsRequest(replica_id=-1, topics=[topic]), 7, list_offsets.ListOffsetsResponse
        )
        return all(partition.error_code == 0 for partition in offsets.topics[0].partitions)

    def _marker_value(self) -> str | None:
        resource = describe_configs.DescribeConfigsResource(
            resource_type=TOPIC_RESOURCE, resource_name=self._marker, configuration_keys=["retention.ms"]
        )
        response = self.call(
            describe_configs.DescribeConfigsRequest(resources=[resource]), 4, describe_configs.DescribeConfigsResponse
        )
        return response.results[0].configs[0].value

    def wait(self, is_done: Callable[[], bool], what: str) -> None:
        """Return when it is done. Raises TimeoutError after SETTLE_SECONDS_MAX."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while not is_done():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {SETTLE_SECONDS_MAX} s for {what}")
            time.sleep(POLL_SECONDS)


def _sleep_ms(by_ms: int) -> None:
    time.sleep(by_ms / 1000)


def _waited(started: float, bound_ms: int) -> str:
    elapsed_ms = (time.monotonic() - started) * 1000
    # A timer may fire a tick early; Kafka's own has a tick of one millisecond.
    return f"at least {bound_ms} ms" if elapsed_ms >= bound_ms - 5 else f"less than {bound_ms} ms"


def main(capture: Callable[[Recorder], None]) -> None:
    """Run a capture program against the broker given on the command line; the lines go to standard output."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tests.golden.PROGRAM HOST:PORT > FILE.jsonl")
    recorder = Recorder(sys.argv[1], sys.stdout)
    capture(recorder)
    recorder.connection.close()

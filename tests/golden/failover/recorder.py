"""Records a script: each control step and each request to a node is a line, waits are none.

A response that depends on how far the nodes are is asked for only after a wait for that state (`settle`,
`until_high_watermark`). Both waits ask every live node, since each learns of a change by itself. Leader epochs and
offsets are kept as they are: the scripts make one change at a time, so that they are the same in every run. Replaced
are ports, topic ids and times (capture_normal_form.py), and what comes in the order of a hash map is sorted.
"""

import json
import re
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import TextIO

from fauxka.protocol.client_requests import RequestMessage
from fauxka.protocol.messages.create_topics import CreateTopicsResponse
from fauxka.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from fauxka.protocol.messages.elect_leaders import ElectLeadersRequest
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from fauxka.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic

from ...wire.message_client import CLIENT_ID, MessageClient
from ...wire.wire_connection import ConnectionClosedError
from ..capture_nodes import sort_hash_maps
from ..capture_normal_form import Json, NormalForm
from .cluster_control import CONTROLLER, ClusterControl
from .requests import Topic, creating, fetching, metadata
from .waiting_request import Waiting

NODES = (1, 2, 3)
# A killed node is fenced six seconds after its last heartbeat, later on a busy machine. Only a hang lasts longer.
SETTLE_SECONDS_MAX = 20.0
POLL_SECONDS = 0.2
# How long a request that waits is given to reach the broker before the next step.
ARRIVAL_SECONDS = 0.3
# A replica that has not yet applied a change of leader refuses the epoch or the request.
NOT_YET_APPLIED = {3, 6, 9, 74, 75, 100}
# COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CONCURRENT_TRANSACTIONS and
# UNSTABLE_OFFSET_COMMIT.
NOT_READY = {14, 15, 16, 51, 88}
# What a group coordinator names a classic member: the client id and a UUID.
NEW_MEMBER = re.compile(rf"{CLIENT_ID}-[0-9a-f-]{{36}}")
NAMED_FETCH = 12
NAMED_METADATA = 12
GROUP_RESOURCE = 32
MARKER = "settle-marker"
MARKER_CONFIG = "consumer.session.timeout.ms"
MARKER_VALUE = 45_000


class FailoverRecorder:
    """One run of one script against one fresh cluster."""

    def __init__(self, control: ClusterControl, output: TextIO) -> None:
        self._control = control
        self._output = output
        ports = {int(control.address(node).rpartition(":")[2]): f"PORT {node}" for node in NODES}
        # The reference cluster has its controller on the port behind those of the brokers.
        ports.setdefault(max(ports) + 1, "PORT of the controller")
        self._normal_form = NormalForm(control.address(1), ports)
        self._topics: dict[str, Topic] = {}
        # The nodes that run and are not frozen.
        self.live: set[int] = set(NODES)
        self._scene = ""
        self._markers = 0
        self._names: dict[str, str] = {}
        self._kept: dict[int, MessageClient] = {}

    # Control steps.

    def scene(self, name: str) -> None:
        """Begin a scene: the cases that follow have its name in front."""
        self._scene = name

    def kill(self, node: int) -> None:
        """Kill a node and wait until the others have noticed."""
        self._step(f"kill node {node}", lambda: self._control.kill(node))
        self.live.discard(node)
        if self.live:
            self.settle()

    def stop(self, node: int) -> None:
        """Stop a node by a controlled shutdown and wait until the others have noticed."""
        self._step(f"stop node {node}", lambda: self._control.stop(node))
        self.live.discard(node)
        if self.live:
            self.settle()

    def start(self, node: int) -> None:
        """Start a node and wait until its replicas are back."""
        self._step(f"start node {node}", lambda: self._control.start(node))
        self.live.add(node)
        self.settle()

    def freeze(self, node: int, *, noticed: bool = True) -> None:
        """Freeze a node. noticed: wait until the others have noticed."""
        self._step(f"freeze node {node}", lambda: self._control.freeze(node))
        self.live.discard(node)
        if noticed:
            self.settle()

    def thaw(self, node: int) -> None:
        """Let a frozen node go on and wait until its replicas are back."""
        self._step(f"thaw node {node}", lambda: self._control.thaw(node))
        self.live.add(node)
        self.settle()

    def kill_controller(self) -> None:
        """Kill the controller. Nothing can be waited for until it is back."""
        self._step("kill the controller", lambda: self._control.kill(CONTROLLER))

    def start_controller(self) -> None:
        """Start the controller and wait until the brokers have found it."""
        self._step("start the controller", lambda: self._control.start(CONTROLLER))
        self.settle()

    def kill_unnoticed(self, node: int) -> None:
        """Kill a node while there is no controller to notice it."""
        self._step(f"kill node {node}", lambda: self._control.kill(node))
        self.live.discard(node)

    # Requests.

    def create(self, name: str, layout: Sequence[Sequence[int]], **configs: str) -> Topic:
        """Create a topic by node 1, without a line, and wait until it can be used. Underscores stand for dots."""
        entries = {key.replace("_", "."): value for key, value in configs.items()}
        response = self.call(min(self.live), 7, creating(name, layout, entries))
        assert isinstance(response, CreateTopicsResponse)
        assert response.topics[0].error_code == 0, response.topics[0]
        topic = Topic(name, response.topics[0].topic_id, layout)
        self._normal_form.name_topic_id(topic.topic_id, name)
        self._topics[name] = topic
        self.settle()
        return topic

    def forget(self, topic: Topic) -> None:
        """Wait for a topic no longer, because it was deleted."""
        del self._topics[topic.name]

    def case(self, node: int, case: str, version: int, request: RequestMessage) -> object | None:
        """Send the request to a node, write the line, return the response (None where the connection was closed)."""
        response: object | None = None

        def asked() -> object:
            nonlocal response
            response = self.call(node, version, request)
            return response

        answer = self.answer(asked)
        self.write(f"node {node}: {case}", request, version, answer, {})
        return response

    def retried_case(
        self,
        node: int,
        case: str,
        version: int,
        request: RequestMessage,
        is_done: Callable[[object], bool] = lambda _: True,
    ) -> object:
        """Send the request until a response is_done and has no error of a coordinator that is not ready; write that.

        A coordinator loads its partition, ends open transactions and writes markers in its own time.
        """
        response = self.call(node, version, request)
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while not is_done(response) or _error_codes(self._normal_form.of(response)) & NOT_READY:
            assert time.monotonic() < deadline, response
            self.pause(POLL_SECONDS)
            response = self.call(node, version, request)
        answer = self.answer(lambda: response)
        self.write(f"node {node}: {case}", request, version, answer, {})
        return response

    def name(self, text: str, name: str) -> None:
        """Write name in the place of a text that differs from run to run."""
        self._names[text] = name

    def each_version(self, node: int, case: str, versions: Iterable[int], request: RequestMessage) -> None:
        """Record the request in each version."""
        for version in versions:
            self.case(node, case, version, request)

    def timed_case(self, node: int, case: str, version: int, request: RequestMessage, *, bound_ms: int) -> None:
        """Record the request, and whether the response came before or after bound_ms."""
        self.waiting(node, case, version, request, arrives=False).finish(bound_ms=bound_ms)

    def waiting(self, node: int, case: str, version: int, request: RequestMessage, *, arrives: bool = True) -> Waiting:
        """Send a request whose response comes later. arrives: give it time to reach the broker."""
        connection = MessageClient(self._control.address(node))
        waiting = Waiting(self, self._control, connection, f"node {node}: {case}", request)
        waiting.send(version)
        if arrives:
            self.pause(ARRIVAL_SECONDS)
        return waiting

    def without_answer(self, node: int, case: str, version: int, request: RequestMessage) -> None:
        """Send a request that has no response (acks 0), and record whether the connection stays open."""
        connection = MessageClient(self._control.address(node))
        connection.send(request, version)
        try:
            connection.call(metadata(), NAMED_METADATA)
            outcome = "the connection stays open"
        except ConnectionClosedError:
            outcome = "CONNECTION_CLOSED"
        except AssertionError:
            outcome = "answered"
        connection.close()
        self.write(f"node {node}: {case}", request, version, outcome, {})

    def call(self, node: int, version: int, request: RequestMessage) -> object:
        """Send the request to a node without writing a line, on a connection of its own unless there is a kept one."""
        if node in self._kept:
            return self._kept[node].call(request, version)
        connection = MessageClient(self._control.address(node))
        try:
            return connection.call(request, version)
        finally:
            connection.close()

    @contextmanager
    def kept_connections(self, *nodes: int) -> Generator[None, None, None]:
        """Send what is for these nodes on one connection each: a share session ends with its connection."""
        self._kept = {node: MessageClient(self._control.address(node)) for node in nodes}
        try:
            yield
        finally:
            for connection in self._kept.values():
                connection.close()
            self._kept = {}

    def answer(self, asked: Callable[[], object]) -> Json:
        """Return the response in the form of the captures."""
        try:
            response = asked()
        except ConnectionClosedError:
            return "CONNECTION_CLOSED"
        except TimeoutError:
            return "NO_RESPONSE"
        self._normal_form.learn_topic_ids(response)
        answer = self._normal_form.of(response)
        sort_hash_maps(answer)
        return answer

    def write(self, case: str, request: RequestMessage, version: int, answer: Json, remarks: dict[str, Json]) -> None:
        """Write one line."""
        api = type(request).__name__.removesuffix("Request")
        line: dict[str, Json] = {"case": f"{self._scene}: {case}", "api": api, "version": version}
        line |= {"sent": self._normal_form.of(request), "answer": answer}
        self._line(line | remarks)

    # Waits.

    def settle(self) -> None:
        """Return when every live node has applied what the live nodes make of all topics.

        That is: every change of before is published, the live brokers are listed, every leader is alive, the ISR of a
        partition with a leader is its live replicas, and they serve its leader epoch.
        """
        self.publish()
        self.until(self.is_settled, self._state)

    def publish(self) -> None:
        """Return when every live node has applied every change that was answered before.

        Nodes apply changes in their order, so the last one is a config that nothing depends on.
        """
        self._markers += 1
        value = str(MARKER_VALUE + self._markers)
        entry = AlterableConfig(name=MARKER_CONFIG, config_operation=0, value=value)
        resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=MARKER, configs=[entry])
        self.until(lambda: self._is_altered(resource), lambda: "the marker cannot be altered")
        self.until(lambda: self._marker_values() == {value}, self._marker_values)

    def _is_altered(self, resource: AlterConfigsResource) -> bool:
        response = self.call(min(self.live), 1, IncrementalAlterConfigsRequest(resources=[resource]))
        assert isinstance(response, IncrementalAlterConfigsResponse)
        return response.responses[0].error_code == 0

    def _marker_values(self) -> set[str | None]:
        resource = DescribeConfigsResource(
            resource_type=GROUP_RESOURCE, resource_name=MARKER, configuration_keys=[MARKER_CONFIG]
        )
        values: set[str | None] = set()
        for node in self.live:
            response = self.call(node, 4, DescribeConfigsRequest(resources=[resource]))
            assert isinstance(response, DescribeConfigsResponse)
            values |= {config.value for config in response.results[0].configs}
        return values

    def until_leader(self, topic: Topic, leader: int) -> None:
        """Return when every live node knows the leader of partition 0 and the replicas serve its epoch."""
        self.until(lambda: self._leaders(topic) == {leader} and self.is_settled(), self._state)

    def until_isr(self, topic: Topic, isr: Sequence[int]) -> None:
        """Return when every live node knows the ISR of partition 0, in any order."""
        self.until(lambda: self._isrs(topic) == {tuple(sorted(isr))}, self._state)

    def until_high_watermark(self, topic: Topic, offset: int, *nodes: int) -> None:
        """Return when these nodes have that high watermark of partition 0."""
        self.until(
            lambda: all(self.high_watermark(node, topic) == offset for node in nodes),
            lambda: f"high watermarks {[self.high_watermark(node, topic) for node in nodes]}, not {offset}",
        )

    def until(self, is_done: Callable[[], bool], state: Callable[[], object]) -> None:
        """Poll until is_done. Raises TimeoutError with the state after SETTLE_SECONDS_MAX."""
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while not _holds(is_done):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self._scene}: waited {SETTLE_SECONDS_MAX} s: {state()}")
            self.pause(POLL_SECONDS)

    def high_watermark(self, node: int, topic: Topic) -> int:
        """Return the high watermark of partition 0 at a node, -1 where it does not serve it."""
        response = self.call(node, NAMED_FETCH, fetching(topic, 0))
        assert isinstance(response, FetchResponse)
        return response.responses[0].partitions[0].high_watermark

    def electing(self) -> None:
        """Make every preferred replica that is alive the leader, without a line, and wait for it."""
        self.call(min(self.live), 2, ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=10_000))
        self.settle()

    def pause(self, seconds: float) -> None:
        """Let time pass, where a broker does something by a timer that no request shows."""
        self._control.pass_seconds(seconds)

    def is_settled(self) -> bool:
        """Return whether the state that settle waits for is there."""
        return all(self._is_settled_at(node) for node in sorted(self.live))

    def _is_settled_at(self, node: int) -> bool:
        response = self._metadata(node)
        if {broker.node_id for broker in response.brokers} != self.live:
            return False
        if any(topic.error_code != 0 for topic in response.topics):
            return False
        return all(self._has_live_isr(topic) for topic in response.topics) and self._serves_epochs(node, response)

    def _has_live_isr(self, topic: MetadataResponseTopic) -> bool:
        return all(
            each.leader_id == -1
            or (each.leader_id in self.live and set(each.isr_nodes) == set(each.replica_nodes) & self.live)
            for each in topic.partitions
        )

    def _serves_epochs(self, node: int, response: MetadataResponse) -> bool:
        topics = [
            FetchTopic(
                topic=topic.name or "",
                partitions=[
                    FetchPartition(
                        partition=each.partition_index,
                        fetch_offset=0,
                        current_leader_epoch=each.leader_epoch,
                        partition_max_bytes=1,
                    )
                    for each in topic.partitions
                    if node in each.replica_nodes
                ],
            )
            for topic in response.topics
        ]
        served = self.call(node, NAMED_FETCH, FetchRequest(max_wait_ms=0, max_bytes=1, session_epoch=-1, topics=topics))
        assert isinstance(served, FetchResponse)
        return not any(each.error_code in NOT_YET_APPLIED for topic in served.responses for each in topic.partitions)

    def _leaders(self, topic: Topic) -> set[int]:
        return {self._metadata(node, topic).topics[0].partitions[0].leader_id for node in self.live}

    def _isrs(self, topic: Topic) -> set[tuple[int, ...]]:
        return {tuple(sorted(self._metadata(node, topic).topics[0].partitions[0].isr_nodes)) for node in self.live}

    def _metadata(self, node: int, *topics: Topic) -> MetadataResponse:
        response = self.call(node, NAMED_METADATA, metadata(*(topics or self._topics.values())))
        assert isinstance(response, MetadataResponse)
        return response

    def _state(self) -> object:
        responses = [self._normal_form.of(self._metadata(node)) for node in sorted(self.live)]
        return f"live {sorted(self.live)}: {json.dumps(responses)}"

    def _step(self, case: str, step: Callable[[], None]) -> None:
        self._line({"case": f"{self._scene}: {case}", "api": "control"})
        step()

    def _line(self, line: dict[str, Json]) -> None:
        written = json.dumps(line, ensure_ascii=False)
        for text, name in self._names.items():
            written = written.replace(text, name)
        written = NEW_MEMBER.sub("a new member", written)
        self._output.write(written + "\n")
        self._output.flush()


def _error_codes(answer: Json) -> set[int]:
    codes: set[int] = set()
    if isinstance(answer, list):
        codes.update(*(_error_codes(entry) for entry in answer))
    elif isinstance(answer, dict):
        codes.update(*(_error_codes(entry) for entry in answer.values()))
        codes |= {code for name, code in answer.items() if name.endswith("error_code") and isinstance(code, int)}
    return codes


def _holds(is_done: Callable[[], bool]) -> bool:
    """A node that starts or that was thawed may close connections."""
    try:
        return is_done()
    except (ConnectionError, TimeoutError):
        return False

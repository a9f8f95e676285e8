"""Errors for selected topics and partitions of a request, and for no others."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fauxka.protocol.api_keys import APIS, Api, ApiKey
from fauxka.protocol.apis.fields import TOPIC_RESOURCE
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.errors.response_frames import decode_response_frame, encode_response_frame
from fauxka.protocol.frames import FrameError
from fauxka.protocol.message_fields import elements, number_in, text_in
from fauxka.protocol.message_types import request_type
from fauxka.protocol.primitives import Reader, Writer
from fauxka.protocol.request_facts import read_request_facts

from ..each_case import each_case
from ..run_counts import count
from . import framed_errors as error_responses
from .framed_errors import FramedErrors
from .test_error_responses import CASES, CORRELATION_ID, Case, changed_bodies

CODE = ErrorCode.LEADER_NOT_AVAILABLE
ORDERS_ID = bytes(range(16))

# The APIs whose responses have no error code for a topic or partition.
WITHOUT_TOPIC_ERRORS = {
    "AddOffsetsToTxn",
    "AddRaftVoter",
    "AlterClientQuotas",
    "AlterUserScramCredentials",
    "ApiVersions",
    "ConsumerGroupDescribe",
    "ConsumerGroupHeartbeat",
    "CreateAcls",
    "CreateDelegationToken",
    "DeleteAcls",
    "DeleteGroups",
    "DescribeAcls",
    "DescribeClientQuotas",
    "DescribeCluster",
    "DescribeDelegationToken",
    "DescribeGroups",
    "DescribeLogDirs",
    "DescribeTransactions",
    "DescribeUserScramCredentials",
    "EndTxn",
    "ExpireDelegationToken",
    "FindCoordinator",
    "Heartbeat",
    "InitProducerId",
    "JoinGroup",
    "LeaveGroup",
    "ListConfigResources",
    "ListGroups",
    "ListPartitionReassignments",
    "ListTransactions",
    "RemoveRaftVoter",
    "RenewDelegationToken",
    "SaslAuthenticate",
    "SaslHandshake",
    "ShareGroupDescribe",
    "ShareGroupHeartbeat",
    "StreamsGroupDescribe",
    "StreamsGroupHeartbeat",
    "StreamsGroupTopologyDescriptionUpdate",
    "SyncGroup",
    "UnregisterBroker",
    "UnregisterController",
    "UpdateFeatures",
}
WITH_TOPICS_ONLY = {
    "AlterConfigs",
    "CreatePartitions",
    "CreateTopics",
    "DeleteShareGroupOffsets",
    "DeleteTopics",
    "DescribeConfigs",
    "IncrementalAlterConfigs",
}

TOPIC_CASES = [case for case in CASES if case.sample == "full" and case.api.name not in WITHOUT_TOPIC_ERRORS]

# A partition of one of the two topics of a sample, or (None) the topic itself.
Part = tuple[int, int | None]
PARTS: list[Part] = [(topic, partition) for topic in range(2) for partition in (None, 0, 1)]


def sample_topic_name_of(topic_id: bytes) -> str | None:
    """Return the name of a sample's topic, whose id is 01..01 or 02..02."""
    return f"topic-{topic_id[0] - 1}"


def selector(parts: set[Part]) -> error_responses.PartSelector:
    return lambda topic, partition: (ord(topic[-1]) - ord("0"), partition) in parts


def all_selected(_topic: str, _partition: int | None) -> bool:
    return True


def body_of(case: Case) -> memoryview:
    """Return the sample's body; its resources are topics."""
    request = request_type(case.api).read(Reader(case.body), case.version)
    if not hasattr(request, "resources"):
        return case.body
    for resource in elements(request, "resources"):
        setattr(resource, "resource_type", TOPIC_RESOURCE)  # noqa: B010
    return encoded(request, case.version)


def encoded(request: Any, version: int) -> memoryview:
    writer = Writer()
    request.write(writer, version)
    return memoryview(writer.buffer)


def framed(case: Case) -> FramedErrors:
    return FramedErrors(case.api, case.version, sample_topic_name_of)


def successful_response(case: Case, body: bytes | memoryview | None) -> bytearray:
    """Return a response without errors for all topics and partitions of the body."""
    empty = error_responses.empty_response(case.api, case.version, CORRELATION_ID)
    if body is None:
        return empty
    return framed(case).add_errors(empty, memoryview(body), all_selected, 0)


def codes_by_part(case: Case, result: bytes | bytearray) -> dict[tuple[str, Part], int]:
    """Return the error code of every topic and partition, by owner (a group, a transaction) and part."""
    correlation_id, response = decode_response_frame(case.api, case.version, result)
    assert correlation_id == CORRELATION_ID
    codes: dict[tuple[str, Part], int] = {}
    for topic_list in case.api.responses:
        for owner in topic_list.owner_messages(response):
            key = str(getattr(owner, topic_list.owner_key)) if topic_list.owner_key else ""
            for topic in elements(owner, topic_list.topics):
                name = topic_list.topic_name(topic, sample_topic_name_of)
                assert name is not None
                number = int(name[-1])
                if topic_list.topic_error:
                    codes[key, (number, None)] = number_in(topic, topic_list.topic_error, -2)
                for partition in elements(topic, topic_list.partitions) if topic_list.partitions else ():
                    part = (number, topic_list.partition_index(partition))
                    assert (key, part) not in codes
                    codes[key, part] = number_in(partition, topic_list.error, -2)
    return codes


@each_case(TOPIC_CASES)
@settings(max_examples=count(10, in_slice=4), deadline=None)
@given(parts=st.sets(st.sampled_from(PARTS)))
def test_selected_parts_are_removed_and_get_the_error(case: Case, parts: set[Part]) -> None:
    chosen = selector(parts)
    body = body_of(case)
    whole = codes_by_part(case, successful_response(case, body))

    rest = framed(case).remove_selected(body, chosen)
    result = framed(case).add_errors(successful_response(case, rest), body, chosen, CODE)

    assert codes_by_part(case, result) == {key: CODE if key[1] in parts else 0 for key in whole}
    if case.api.key is not ApiKey.FETCH:
        assert request_parts(case, rest) == {part for part in request_parts(case, body) if part not in parts}


def request_parts(case: Case, body: bytes | memoryview | None) -> set[Part]:
    if body is None:
        return set()
    facts = read_request_facts(case.api, case.version, memoryview(body), sample_topic_name_of)
    if facts.partitions:
        return {(int(name[-1]), index) for name, index in facts.partitions}
    return {(int(name[-1]), None) for name in facts.topics}


@each_case(TOPIC_CASES)
@settings(max_examples=count(10, in_slice=4), deadline=None)
@given(parts=st.sets(st.sampled_from(PARTS)))
def test_overwritten_errors_change_only_the_selected_parts(case: Case, parts: set[Part]) -> None:
    chosen = selector(parts)
    honest = successful_response(case, body_of(case))

    lying = framed(case).overwrite_errors(honest, chosen, CODE)

    codes = codes_by_part(case, honest)
    assert codes_by_part(case, lying) == {key: CODE if key[1] in parts else 0 for key in codes}
    assert framed(case).overwrite_errors(lying, chosen, 0) == honest


@each_case(TOPIC_CASES)
def test_every_error_code_of_a_response_can_be_overwritten(case: Case) -> None:
    honest = successful_response(case, body_of(case))

    lying = framed(case).overwrite_errors(honest, None, CODE)

    assert set(codes_by_part(case, lying).values()) == {CODE}
    assert error_responses.first_error_code(case.api, case.version, lying) == CODE
    assert framed(case).overwrite_errors(lying, None, 0) == honest


@each_case(TOPIC_CASES)
def test_changed_body_gives_partial_errors_or_frame_error(case: Case) -> None:
    chosen = selector({(0, None), (0, 0), (1, 1)})
    honest = successful_response(case, body_of(case))
    for broken in changed_bodies(case):
        with contextlib.suppress(FrameError):
            FramedErrors(case.api, case.version, lambda _: "topic-0").remove_selected(broken, chosen)
        with contextlib.suppress(FrameError):
            FramedErrors(case.api, case.version, lambda _: "topic-0").add_errors(honest, broken, all_selected, CODE)


def test_scopes_that_an_api_can_report_errors_for() -> None:
    without = {api.name for api in APIS.values() if not error_responses.can_report_error(api, "topic")}
    topics_only = {api.name for api in APIS.values() if not error_responses.can_report_error(api, "partition")}

    assert without == WITHOUT_TOPIC_ERRORS
    assert topics_only == WITHOUT_TOPIC_ERRORS | WITH_TOPICS_ONLY
    assert all(error_responses.can_report_error(api, "request") for api in APIS.values())
    with pytest.raises(ValueError, match="partition, topic, request"):
        error_responses.can_report_error(APIS[ApiKey.FETCH], "broker")


def test_api_without_topics_in_its_responses_rejects_partial_errors() -> None:
    api = APIS[ApiKey.HEARTBEAT]
    result = error_responses.empty_response(api, 4, CORRELATION_ID)
    body = encoded(request_type(api)(), 4)

    for refused in (
        lambda: FramedErrors(api, 4, sample_topic_name_of).remove_selected(body, all_selected),
        lambda: FramedErrors(api, 4, sample_topic_name_of).add_errors(result, body, all_selected, CODE),
        lambda: FramedErrors(api, 4, sample_topic_name_of).overwrite_errors(result, all_selected, CODE),
    ):
        assert raised_by(refused) == "Heartbeat: the response has no error code for a topic or partition"


def raised_by(act: Callable[[], object]) -> str:
    with pytest.raises(ValueError) as raised:
        act()
    return str(raised.value)


class ApiScene:
    """Builds requests and responses of an API in one version, with parts by class name."""

    def __init__(self, key: ApiKey, version: int) -> None:
        self.api: Api = APIS[key]
        self.version = version
        self._messages = importlib.import_module(f"fauxka.protocol.messages.{self.api.module}")

    def part(self, class_name: str, /, **values: object) -> Any:
        return getattr(self._messages, class_name)(**values)

    def request(self, **values: object) -> memoryview:
        return encoded(self.part(f"{self.api.name}Request", **values), self.version)

    def response_frame(self, **values: object) -> bytearray:
        response = self.part(f"{self.api.name}Response", **values)
        return encode_response_frame(self.api, self.version, CORRELATION_ID, response)

    def without(self, body: memoryview, chosen: error_responses.PartSelector) -> Any:
        """Return the request without what is chosen, read again; None where nothing is left."""
        rest = FramedErrors(self.api, self.version, topic_name_of).remove_selected(body, chosen)
        return None if rest is None else request_type(self.api).read(Reader(rest), self.version)

    def added(self, result: bytearray, body: memoryview, chosen: error_responses.PartSelector) -> Any:
        """Return the result with errors added, read again."""
        added = FramedErrors(self.api, self.version, topic_name_of).add_errors(result, body, chosen, CODE)
        return decode_response_frame(self.api, self.version, added)[1]


def topic_name_of(topic_id: bytes) -> str | None:
    return {ORDERS_ID: "orders"}.get(topic_id)


def orders_only(topic: str, _partition: int | None) -> bool:
    return topic == "orders"


def fetch(version: int = 17) -> tuple[ApiScene, memoryview]:
    scene = ApiScene(ApiKey.FETCH, version)
    partitions = [scene.part("FetchPartition", partition=index) for index in (0, 1)]
    topic = scene.part("FetchTopic", topic="orders", topic_id=ORDERS_ID, partitions=partitions)
    return scene, scene.request(topics=[topic], max_wait_ms=500, session_id=9)


@pytest.mark.parametrize("version", [12, 17])
def test_fetch_keeps_its_partitions_and_does_not_wait(version: int) -> None:
    scene, body = fetch(version)

    rest = scene.without(body, lambda topic, partition: (topic, partition) == ("orders", 1))

    assert [each.partition for each in rest.topics[0].partitions] == [0, 1]
    assert (rest.max_wait_ms, rest.session_id) == (0, 9)


def test_fetch_without_selected_partitions_keeps_its_max_wait() -> None:
    scene, body = fetch()

    assert scene.without(body, lambda topic, partition: partition == 7).max_wait_ms == 500


def test_error_replaces_the_data_of_a_partition() -> None:
    scene, body = fetch()
    partitions = [
        scene.part("PartitionData", partition_index=index, high_watermark=5, records=b"data") for index in (0, 1)
    ]
    topic = scene.part("FetchableTopicResponse", topic_id=ORDERS_ID, partitions=partitions)

    result = scene.added(scene.response_frame(responses=[topic]), body, lambda _, partition: partition == 0)

    (topic,) = result.responses
    assert [(each.partition_index, each.error_code, each.records) for each in topic.partitions] == [
        (0, CODE, b""),
        (1, 0, b"data"),
    ]


def test_partition_of_a_fetch_session_gets_the_error_without_being_named() -> None:
    scene = ApiScene(ApiKey.FETCH, 17)
    partition = scene.part("PartitionData", partition_index=0, records=b"data")
    topic = scene.part("FetchableTopicResponse", topic_id=ORDERS_ID, partitions=[partition])

    result = scene.added(scene.response_frame(responses=[topic]), scene.request(), orders_only)

    assert [each.error_code for each in result.responses[0].partitions] == [CODE]


def test_topic_of_an_unknown_id_is_never_selected() -> None:
    scene = ApiScene(ApiKey.PRODUCE, 13)
    partition = scene.part("PartitionProduceData", index=0, records=b"")
    topic = scene.part("TopicProduceData", topic_id=bytes(15) + b"\1", partition_data=[partition])
    body = scene.request(topic_data=[topic])

    assert len(scene.without(body, all_selected).topic_data) == 1
    assert scene.added(scene.response_frame(), body, all_selected).responses == []


def test_topics_of_a_metadata_response_for_all_topics_get_the_error() -> None:
    scene = ApiScene(ApiKey.METADATA, 12)
    body = scene.request(topics=None)
    partitions = [scene.part("MetadataResponsePartition", partition_index=0, leader_id=1)]
    topics = [
        scene.part("MetadataResponseTopic", name=name, topic_id=ORDERS_ID, partitions=partitions)
        for name in ("orders", "other")
    ]

    result = scene.added(scene.response_frame(topics=topics), body, orders_only)

    assert scene.without(body, orders_only).topics is None
    assert [(each.name, each.error_code, len(each.partitions)) for each in result.topics] == [
        ("orders", CODE, 0),
        ("other", 0, 1),
    ]


def test_partition_of_a_metadata_response_keeps_its_other_fields() -> None:
    scene = ApiScene(ApiKey.METADATA, 12)
    body = scene.request(topics=[scene.part("MetadataRequestTopic", name="orders")])
    partitions = [scene.part("MetadataResponsePartition", partition_index=index, leader_id=1) for index in (0, 1)]
    topic = scene.part("MetadataResponseTopic", name="orders", topic_id=ORDERS_ID, partitions=partitions)

    result = scene.added(scene.response_frame(topics=[topic]), body, lambda _, partition: partition == 1)

    assert result.topics[0].error_code == 0
    assert [(each.error_code, each.leader_id) for each in result.topics[0].partitions] == [(0, 1), (CODE, 1)]


def test_metadata_request_without_topics_is_not_dropped() -> None:
    for version, left in ((0, None), (1, 0), (12, 0)):
        scene = ApiScene(ApiKey.METADATA, version)
        rest = scene.without(scene.request(topics=[scene.part("MetadataRequestTopic", name="orders")]), orders_only)

        assert (None if rest is None else len(rest.topics)) == left


def test_error_of_a_topic_id_has_the_topic_name() -> None:
    scene = ApiScene(ApiKey.METADATA, 12)
    body = scene.request(topics=[scene.part("MetadataRequestTopic", name=None, topic_id=ORDERS_ID)])

    (topic,) = scene.added(scene.response_frame(), body, orders_only).topics

    assert (topic.name, topic.topic_id, topic.error_code) == ("orders", ORDERS_ID, CODE)


def test_group_whose_partitions_all_fail_is_removed_and_gets_the_error() -> None:
    scene = ApiScene(ApiKey.OFFSET_FETCH, 9)
    groups = [
        scene.part(
            "OffsetFetchRequestGroup",
            group_id=group_id,
            topics=[scene.part("OffsetFetchRequestTopics", name=name, partition_indexes=[0])],
        )
        for group_id, name in (("a", "orders"), ("b", "other"))
    ]
    body = scene.request(groups=groups)
    answered = scene.response_frame(groups=[scene.part("OffsetFetchResponseGroup", group_id="b")])

    result = scene.added(answered, body, orders_only)

    assert [each.group_id for each in scene.without(body, orders_only).groups] == ["b"]
    assert [each.group_id for each in result.groups] == ["b", "a"]
    (partition,) = result.groups[1].topics[0].partitions
    assert (partition.error_code, partition.committed_offset, partition.metadata) == (CODE, -1, "")


def test_group_without_a_list_of_topics_is_not_removed() -> None:
    scene = ApiScene(ApiKey.OFFSET_FETCH, 9)
    body = scene.request(groups=[scene.part("OffsetFetchRequestGroup", group_id="a", topics=None)])

    assert scene.without(body, all_selected).groups[0].topics is None


def test_nothing_is_left_of_a_request_whose_topics_all_fail() -> None:
    scene = ApiScene(ApiKey.CREATE_TOPICS, 7)
    body = scene.request(topics=[scene.part("CreatableTopic", name="orders", num_partitions=1, replication_factor=1)])
    empty = error_responses.empty_response(scene.api, scene.version, CORRELATION_ID)

    (topic,) = scene.added(empty, body, orders_only).topics

    assert scene.without(body, orders_only) is None
    assert (topic.name, topic.error_code) == ("orders", CODE)


def test_resource_that_is_not_a_topic_is_not_selected() -> None:
    scene = ApiScene(ApiKey.DESCRIBE_CONFIGS, 4)
    resources = [scene.part("DescribeConfigsResource", resource_type=kind, resource_name="orders") for kind in (2, 4)]
    body = scene.request(resources=resources)

    result = scene.added(scene.response_frame(), body, orders_only)

    assert [each.resource_type for each in scene.without(body, orders_only).resources] == [4]
    assert [(each.resource_type, text_in(each, "resource_name")) for each in result.results] == [(2, "orders")]

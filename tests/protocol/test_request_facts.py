"""The topics, partitions, batches, groups, transactions and producers that a request names."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.protocol.api_keys import APIS, Api, ApiKey
from fauxka.protocol.apis.fields import TopicList
from fauxka.protocol.batches.records import BatchOptions, Record, build_batch
from fauxka.protocol.frames import FrameError
from fauxka.protocol.message import Message
from fauxka.protocol.message_types import element_type, message_lists, request_type
from fauxka.protocol.primitives import Writer
from fauxka.protocol.request_facts import RequestFacts, read_request_facts

ORDERS_ID = bytes(range(16))
UNKNOWN_ID = bytes(range(16, 32))


def topic_name_of(topic_id: bytes) -> str | None:
    return {ORDERS_ID: "orders"}.get(topic_id)


def part(api: Api, class_name: str, /, **fields: object) -> Any:
    """Return a part of the API's messages, by class name."""
    return getattr(importlib.import_module(f"fauxka.protocol.messages.{api.module}"), class_name)(**fields)


def encoded(message: Message, version: int) -> memoryview:
    writer = Writer()
    message.write(writer, version)
    return memoryview(writer.buffer)


def facts_of(key: ApiKey, version: int, /, **fields: object) -> RequestFacts:
    api = APIS[key]
    request = part(api, f"{api.name}Request", **fields)
    return read_request_facts(api, version, encoded(request, version), topic_name_of)


def produced(version: int, records: bytes | None, topic_id: bytes = ORDERS_ID) -> RequestFacts:
    api = APIS[ApiKey.PRODUCE]
    partition = part(api, "PartitionProduceData", index=3, records=records)
    topic = part(api, "TopicProduceData", name="orders", topic_id=topic_id, partition_data=[partition])
    return facts_of(ApiKey.PRODUCE, version, transactional_id="t", topic_data=[topic])


BATCH = build_batch(
    [Record(b"a"), Record(b"b")], BatchOptions(producer_id=7, producer_epoch=2, base_sequence=2**31 - 1)
)


@pytest.mark.parametrize("version", range(3, 14))
def test_batch_of_a_produce_has_the_fields_of_its_header(version: int) -> None:
    facts = produced(version, BATCH)

    (batch,) = facts.batches
    assert (facts.topics, facts.partitions, facts.transactional_id) == (("orders",), (("orders", 3),), "t")
    assert (batch.topic, batch.partition, batch.producer_id, batch.producer_epoch) == ("orders", 3, 7, 2)
    # The sequence after the greatest is 0.
    assert (batch.base_sequence, batch.last_sequence, batch.records_count) == (2**31 - 1, 0, 2)
    assert batch.records == BATCH
    assert (facts.producer_id, facts.producer_epoch) == (-1, -1)


def test_records_that_are_not_a_batch_have_no_numbers() -> None:
    for records in (b"", b"junk", BATCH[:-1], BATCH[:16] + b"\1" + BATCH[17:]):
        (batch,) = produced(9, records).batches

        assert (batch.producer_id, batch.base_sequence, batch.last_sequence, batch.records_count) == (-1, -1, -1, -1)
        assert batch.records == records


def test_only_the_first_of_several_batches_counts() -> None:
    (batch,) = produced(9, BATCH + build_batch([Record(b"c")])).batches

    assert batch.records == BATCH
    assert (batch.producer_id, batch.records_count) == (7, 2)


def test_null_records_give_a_partition_without_batch() -> None:
    facts = produced(9, None)

    assert facts.partitions == (("orders", 3),)
    assert facts.batches == []


def test_unknown_topic_id_is_omitted() -> None:
    facts = produced(13, BATCH, UNKNOWN_ID)

    assert (facts.topics, facts.partitions, facts.batches) == ((), (), [])


@pytest.mark.parametrize("version", [4, 12, 13, 18])
def test_fetch_names_its_partitions_by_name_or_id(version: int) -> None:
    api = APIS[ApiKey.FETCH]
    partitions = [part(api, "FetchPartition", partition=index) for index in (0, 5)]
    topic = part(api, "FetchTopic", topic="orders", topic_id=ORDERS_ID, partitions=partitions)

    facts = facts_of(ApiKey.FETCH, version, topics=[topic])

    assert facts.topics == ("orders",)
    assert facts.partitions == (("orders", 0), ("orders", 5))


@pytest.mark.parametrize("version", [1, 7, 8, 10])
def test_offset_fetch_names_groups_and_partitions(version: int) -> None:
    api = APIS[ApiKey.OFFSET_FETCH]
    topics = [
        part(api, "OffsetFetchRequestTopics", name="orders", topic_id=ORDERS_ID, partition_indexes=[1, 2]),
    ]
    old_topics = [part(api, "OffsetFetchRequestTopic", name="orders", partition_indexes=[1, 2])]
    groups = [part(api, "OffsetFetchRequestGroup", group_id="g", topics=topics)] if version >= 8 else []

    facts = facts_of(
        ApiKey.OFFSET_FETCH,
        version,
        groups=groups,
        group_id="g" if version < 8 else "",
        topics=old_topics if version < 8 else [],
    )

    assert facts.group_ids == ("g",)
    assert facts.topics == ("orders",)
    assert facts.partitions == (("orders", 1), ("orders", 2))


def test_metadata_for_all_topics_names_none() -> None:
    assert facts_of(ApiKey.METADATA, 12, topics=None) == RequestFacts()


def test_topics_without_partitions_are_named() -> None:
    api = APIS[ApiKey.DELETE_TOPICS]
    states = [
        part(api, "DeleteTopicState", name=None, topic_id=ORDERS_ID),
        part(api, "DeleteTopicState", name="other"),
    ]

    assert facts_of(ApiKey.DELETE_TOPICS, 6, topics=states).topics == ("orders", "other")
    assert facts_of(ApiKey.DELETE_TOPICS, 1, topic_names=["a", "a", "b"]).topics == ("a", "b")


@pytest.mark.parametrize("version", range(6))
def test_add_partitions_names_a_transaction_in_both_structures(version: int) -> None:
    api = APIS[ApiKey.ADD_PARTITIONS_TO_TXN]
    topics = [part(api, "AddPartitionsToTxnTopic", name="orders", partitions=[4])]
    transaction = part(
        api, "AddPartitionsToTxnTransaction", transactional_id="t", producer_id=9, producer_epoch=1, topics=topics
    )

    if version >= 4:
        facts = facts_of(api.key, version, transactions=[transaction])
    else:
        facts = facts_of(
            api.key,
            version,
            v3_and_below_transactional_id="t",
            v3_and_below_producer_id=9,
            v3_and_below_producer_epoch=1,
            v3_and_below_topics=topics,
        )

    assert facts == RequestFacts(("orders",), (("orders", 4),), "t", (), 9, 1)


@pytest.mark.parametrize("version", [1, 3, 4, 6])
def test_find_coordinator_names_a_group_or_a_transaction(version: int) -> None:
    def asked(key_type: int) -> RequestFacts:
        keys = ["a"] if version >= 4 else []
        key = "" if version >= 4 else "a"
        return facts_of(ApiKey.FIND_COORDINATOR, version, key=key, key_type=key_type, coordinator_keys=keys)

    assert asked(0) == RequestFacts(group_ids=("a",))
    assert asked(1) == RequestFacts(transactional_id="a")


def test_groups_are_found_in_every_field_name() -> None:
    assert facts_of(ApiKey.HEARTBEAT, 4, group_id="g").group_ids == ("g",)
    assert facts_of(ApiKey.DESCRIBE_GROUPS, 5, groups=["g", "h"]).group_ids == ("g", "h")
    assert facts_of(ApiKey.DELETE_GROUPS, 2, groups_names=["g"]).group_ids == ("g",)
    assert facts_of(ApiKey.CONSUMER_GROUP_DESCRIBE, 1, group_ids=["g"]).group_ids == ("g",)


def test_resources_are_topics_and_groups() -> None:
    api = APIS[ApiKey.DESCRIBE_CONFIGS]
    resources = [
        part(api, "DescribeConfigsResource", resource_type=kind, resource_name=name)
        for kind, name in ((2, "orders"), (4, "1"), (32, "g"))
    ]

    facts = facts_of(api.key, 4, resources=resources)

    assert facts == RequestFacts(topics=("orders",), group_ids=("g",))


def test_producer_fields_of_a_request_are_found() -> None:
    facts = facts_of(ApiKey.INIT_PRODUCER_ID, 4, transactional_id="t", producer_id=5, producer_epoch=3)

    assert facts == RequestFacts(transactional_id="t", producer_id=5, producer_epoch=3)


def test_every_field_of_the_table_exists_in_the_messages() -> None:
    missing = [
        f"{api.name}: {name}"
        for api in APIS.values()
        for each in api.requests
        for name in missing_fields(request_type(api), each)
    ]

    assert missing == []


def missing_fields(message_type: type[Message], topic_list: TopicList) -> list[str]:
    owner = element_type(message_type, topic_list.owners) if topic_list.owners else message_type
    named: dict[str, type] = {topic_list.owners: message_type, topic_list.owner_key: owner, topic_list.topics: owner}
    # A list of names has no messages, and so none of the other fields.
    topic = message_lists(owner).get(topic_list.topics, str)
    for name in (topic_list.name, topic_list.topic_id, topic_list.partitions, topic_list.resource_type):
        named[name] = topic
    if topic_list.partition:
        named[topic_list.partition] = element_type(topic, topic_list.partitions)
    return [name for name, owning in named.items() if name and name not in getattr(owning, "__slots__", ())]


@given(data=st.data())
def test_any_bytes_give_facts_or_frame_error(data: st.DataObject) -> None:
    api = data.draw(st.sampled_from(list(APIS.values())))
    version = data.draw(st.integers(api.versions.first, api.versions.last))
    body = data.draw(st.binary(max_size=80))

    with contextlib.suppress(FrameError):
        read_request_facts(api, version, memoryview(body), topic_name_of)

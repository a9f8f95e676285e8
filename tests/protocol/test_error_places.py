"""The errors inside a response of any API, beside a plain walk through its messages."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.broker.handlers import HANDLERS
from fauxka.protocol.api_keys import APIS, Api, ApiKey
from fauxka.protocol.errors import error_places
from fauxka.protocol.errors.error_places import ErrorPlace, find_errors, place_of
from fauxka.protocol.errors.response_frames import ERROR_FIELDS, error_holders
from fauxka.protocol.kafka_uuid import uuid_text
from fauxka.protocol.message import Message
from fauxka.protocol.message_types import element_type, message_lists, response_type
from fauxka.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from fauxka.protocol.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from fauxka.protocol.messages.leave_group import LeaveGroupResponse, MemberResponse
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

SERVED = [APIS[key] for key in sorted(HANDLERS)]
CODES = st.sampled_from([0, 0, 3, 22, 25, -1])


def draw_response(draw: st.DrawFn, message_class: type[Message]) -> Message:
    """Return a message with drawn error codes, and one to three elements in each list of messages."""
    fields: dict[str, Any] = {name: draw(CODES) for name in message_class.__slots__ if name in ERROR_FIELDS}
    for name, element_class in message_lists(message_class).items():
        fields[name] = [draw_response(draw, element_class) for _ in range(draw(st.integers(1, 3)))]
    return message_class(**fields)


@st.composite
def responses(draw: st.DrawFn) -> tuple[Api, Message]:
    api = draw(st.sampled_from(SERVED))
    return api, draw_response(draw, response_type(api))


def places_in(api: Api, response: Message) -> list[ErrorPlace]:
    return [place_of(found, lambda _: None) for found in find_errors(api, response) if found is not None]


@given(responses())
def test_every_error_code_of_every_api_is_found(drawn: tuple[Api, Message]) -> None:
    api, response = drawn

    codes = [cast(int, getattr(holder, name)) for holder, name in error_holders(response)]

    assert sorted(place.code for place in places_in(api, response)) == sorted(code for code in codes if code)


@pytest.mark.parametrize("api", [api for api in SERVED if any(each.error for each in api.responses)], ids=str)
def test_error_of_a_partition_has_its_index(api: Api) -> None:
    topics = next(each for each in api.responses if each.error)
    response: Message = response_type(api)()
    owner: Message = response
    if topics.owners:
        owner = element_type(response, topics.owners)()
        getattr(response, topics.owners).append(owner)
    topic = element_type(owner, topics.topics)()
    getattr(owner, topics.topics).append(topic)
    partition = element_type(topic, topics.partitions)()
    getattr(topic, topics.partitions).append(partition)
    setattr(partition, topics.error, 6)
    setattr(partition, topics.partition, 17)
    if topics.name:
        setattr(topic, topics.name, "orders")
    else:
        setattr(topic, topics.topic_id, bytes(range(16)))

    (place,) = places_in(api, response)

    assert (place.code, place.topic, place.partition) == (
        6,
        "orders" if topics.name else uuid_text(bytes(range(16))),
        17,
    )


def test_error_has_the_transaction_and_the_partition() -> None:
    partitions = [AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=90) for index in (4, 5)]
    topic = AddPartitionsToTxnTopicResult(name="orders", results_by_partition=partitions)
    result = AddPartitionsToTxnResult(transactional_id="shop-1", topic_results=[topic])
    response = AddPartitionsToTxnResponse(results_by_transaction=[result])

    first, second = places_in(APIS[ApiKey.ADD_PARTITIONS_TO_TXN], response)

    assert first == ErrorPlace(90, topic="orders", partition=4, transactional_id="shop-1")
    assert second.partition == 5


def test_error_of_a_member_has_its_id() -> None:
    members = [MemberResponse(member_id="a", error_code=0), MemberResponse(member_id="b", error_code=25)]

    places = places_in(APIS[ApiKey.LEAVE_GROUP], LeaveGroupResponse(members=members))

    assert places == [ErrorPlace(25, member_id="b")]


def test_topic_is_named_by_its_id_if_it_does_not_exist() -> None:
    topic_id = bytes(range(16))
    response = DeleteTopicsResponse(responses=[DeletableTopicResult(name=None, topic_id=topic_id, error_code=100)])
    api = APIS[ApiKey.DELETE_TOPICS]
    (found,) = [found for found in find_errors(api, response) if found is not None]

    assert place_of(found, lambda _: None).topic == uuid_text(topic_id)
    assert place_of(found, {topic_id: "orders"}.get).topic == "orders"


def test_walk_pauses_after_a_number_of_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_places, "ELEMENTS_AT_ONCE", 10)
    partitions = [OffsetCommitResponsePartition(partition_index=index) for index in range(34)]
    response = OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="orders", partitions=partitions)])

    assert list(find_errors(APIS[ApiKey.OFFSET_COMMIT], response)) == [None] * 3

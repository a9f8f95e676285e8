"""Generated messages: construction, defaults, equality and repr."""

from __future__ import annotations

import pytest

from fauxka.protocol.message import Message
from fauxka.protocol.messages import fetch, produce
from fauxka.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse, SupportedFeatureKey
from fauxka.protocol.messages.fetch import FetchRequest, PartitionData, ReplicaState
from fauxka.protocol.messages.metadata import MetadataRequest


def test_messages_of_one_class_with_the_same_values_are_equal() -> None:
    one, other = (ApiVersionsResponse(api_keys=[ApiVersion(api_key=3, max_version=13)]) for _ in range(2))

    assert one == other
    other.api_keys[0].max_version = 12
    assert one != other


def test_messages_of_different_classes_are_not_equal() -> None:
    assert ApiVersion() != SupportedFeatureKey()
    assert ApiVersion() != (0, 0, 0)


def test_message_is_mutable_and_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(ApiVersion())


def test_omitted_field_has_its_default() -> None:
    request = FetchRequest()

    assert (request.replica_id, request.max_bytes, request.rack_id) == (-1, 2147483647, "")
    assert request.topics == []
    assert request.replica_state == ReplicaState(replica_id=-1, replica_epoch=-1)
    assert PartitionData().records is None


def test_messages_do_not_share_the_defaults_of_lists_and_structs() -> None:
    one, other = FetchRequest(), FetchRequest()

    assert one.topics is not other.topics
    assert one.replica_state is not other.replica_state


def test_null_is_not_the_default() -> None:
    assert MetadataRequest(topics=None).topics is None
    assert MetadataRequest().topics == []


def test_message_without_fields_is_constructed() -> None:
    class Empty(Message):
        pass

    assert repr(Empty()) == "Empty()"


def test_struct_that_two_apis_define_alike_is_one_class() -> None:
    assert fetch.NodeEndpoint is produce.NodeEndpoint


def test_list_is_not_copied() -> None:
    api_keys: list[ApiVersion] = []
    response = ApiVersionsResponse(api_keys=api_keys)
    api_keys.append(ApiVersion(api_key=18))

    assert response.api_keys == [ApiVersion(api_key=18)]


def test_repr_has_the_order_of_kafkas_definition() -> None:
    assert repr(ApiVersion(api_key=3, max_version=13)) == "ApiVersion(api_key=3, min_version=0, max_version=13)"


def test_unknown_field_and_positional_field_are_rejected() -> None:
    with pytest.raises(TypeError, match="epoch"):
        ApiVersion(epoch=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="positional"):
        ApiVersion(18)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(AttributeError):
        setattr(ApiVersion(), "epoch", 1)  # noqa: B010

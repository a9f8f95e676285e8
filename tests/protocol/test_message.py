"""What generated messages have in common: values by name, each with its default, and equal by them."""

from __future__ import annotations

import pytest

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


def test_a_message_has_no_hash_as_its_values_change() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(ApiVersion())


def test_what_is_left_out_has_its_default() -> None:
    request = FetchRequest()

    assert (request.replica_id, request.max_bytes, request.rack_id) == (-1, 2147483647, "")
    assert request.topics == []
    assert request.replica_state == ReplicaState(replica_id=-1, replica_epoch=-1)
    assert PartitionData().records is None


def test_no_two_messages_share_a_list_or_a_struct_that_was_left_out() -> None:
    one, other = FetchRequest(), FetchRequest()

    assert one.topics is not other.topics
    assert one.replica_state is not other.replica_state


def test_null_is_not_what_is_left_out() -> None:
    assert MetadataRequest(topics=None).topics is None
    assert MetadataRequest().topics == []


def test_a_list_that_is_given_is_the_one_that_is_held() -> None:
    api_keys: list[ApiVersion] = []
    response = ApiVersionsResponse(api_keys=api_keys)
    api_keys.append(ApiVersion(api_key=18))

    assert response.api_keys == [ApiVersion(api_key=18)]


def test_a_message_shows_its_values_in_the_order_of_kafkas_definition() -> None:
    assert repr(ApiVersion(api_key=3, max_version=13)) == "ApiVersion(api_key=3, min_version=0, max_version=13)"


def test_a_name_that_is_no_field_is_refused() -> None:
    with pytest.raises(TypeError, match="epoch"):
        ApiVersion(epoch=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(AttributeError):
        setattr(ApiVersion(), "epoch", 1)  # noqa: B010

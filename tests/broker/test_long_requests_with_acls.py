"""A request of very many elements that an authorizer judges does not hold the event loop either."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.broker.handlers import HANDLERS
from fauxka.broker.security.acl.acls import AclBinding
from fauxka.broker.security.acl.standard_authorizer import CLASS_NAME
from fauxka.protocol.acl_types import CLUSTER_NAME, AclOperation, AclPermission, PatternType, ResourceType
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.apis.authorization import Authorization
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.errors.response_frames import decode_response_frame
from fauxka.protocol.frames import FRAME_SIZE_BYTES
from fauxka.protocol.message_fields import number_in
from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fauxka.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fauxka.protocol.messages.describe_groups import DescribeGroupsRequest
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

from .long_requests import TOPIC, ask
from .loop_pauses import PAUSE_SECONDS_MAX
from .measured_node import MeasuredNode, check_widest, measured_node
from .wide_requests import WideRequest, wide_requests

pytestmark = pytest.mark.pauses

WITH_AUTHORIZER = {"authorizer.class.name": CLASS_NAME}
# All that a request needs as a whole; what it needs of topics is denied.
ALLOWED = {
    ResourceType.CLUSTER: CLUSTER_NAME,
    ResourceType.GROUP: "*",
    ResourceType.TRANSACTIONAL_ID: "*",
}


@pytest.fixture(scope="module")
def without_acls() -> Iterator[MeasuredNode]:
    with measured_node(config=WITH_AUTHORIZER) as measured:
        yield measured


@pytest.fixture(scope="module")
def without_topics() -> Iterator[MeasuredNode]:
    with measured_node(config=WITH_AUTHORIZER) as (node, pauses):
        acls = node.cluster.image.security.acls
        for resource_type, name in ALLOWED.items():
            literal = (resource_type, name, PatternType.LITERAL)
            acls.add(AclBinding(*literal, "User:*", "*", AclOperation.ALL, AclPermission.ALLOW))
        # What allows every topic is denied.
        for operation in (AclOperation.CREATE, AclOperation.DELETE, AclOperation.CLUSTER_ACTION):
            cluster = (ResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL)
            acls.add(AclBinding(*cluster, "User:*", "*", operation, AclPermission.DENY))
        yield node, pauses


REQUESTS = [each for each in wide_requests() if each.api.key in HANDLERS and each.api.key is not ApiKey.PRODUCE]


def marked_requests() -> Iterator[object]:
    """Yield the requests; a request that is allowed or denied as a whole is handled as without an authorizer."""
    for request in REQUESTS:
        marks = pytest.mark.deep if is_allowed_as_a_whole(request.api.authorization) else ()
        yield pytest.param(request, id=str(request), marks=marks)


def is_allowed_as_a_whole(demanded: Authorization) -> bool:
    of_parts = (demanded.entries, demanded.configs, demanded.topics)
    return of_parts == (None, None, None) and not demanded.has_own_rule and not demanded.is_checked_by_handler


@pytest.mark.deep
@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_widest_denied_request_does_not_hold_the_event_loop(request_: WideRequest, without_acls: MeasuredNode) -> None:
    check_widest(request_, without_acls)


@pytest.mark.parametrize("request_", list(marked_requests()))
def test_widest_request_for_denied_topics_does_not_hold_the_event_loop(
    request_: WideRequest, without_topics: MeasuredNode
) -> None:
    check_widest(request_, without_topics)


NAMES = [f"name-{index}" for index in range(99_000)]
WITH_OPERATIONS = {
    ApiKey.METADATA: MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in NAMES],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    ),
    ApiKey.DESCRIBE_GROUPS: DescribeGroupsRequest(groups=NAMES, include_authorized_operations=True),
}


@pytest.mark.parametrize("api_key", WITH_OPERATIONS, ids=lambda api_key: APIS[api_key].name)
def test_authorized_operations_of_very_many_resources_do_not_hold_the_event_loop(api_key: ApiKey) -> None:
    version = {ApiKey.METADATA: 9, ApiKey.DESCRIBE_GROUPS: 5}[api_key]
    frame = request_frame(APIS[api_key], version, 1, WITH_OPERATIONS[api_key])
    with measured_node(config=WITH_AUTHORIZER) as (node, pauses):
        for resource_type in (ResourceType.TOPIC, ResourceType.GROUP):
            every = (resource_type, "*", PatternType.LITERAL)
            acl = AclBinding(*every, "User:*", "*", AclOperation.DESCRIBE, AclPermission.ALLOW)
            node.cluster.image.security.acls.add(acl)
        pauses.longest = 0.0

        assert ask(node.address, frame) is not None

        # The callback that sends the response has ended, too.
        node.call(lambda: None)
        assert pauses.longest < PAUSE_SECONDS_MAX


# Of members that do not exist: what a group does with the names is another matter.
SUBSCRIPTIONS = {
    ApiKey.CONSUMER_GROUP_HEARTBEAT: ConsumerGroupHeartbeatRequest(
        group_id="consumers",
        member_id="member",
        member_epoch=1,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=NAMES,
    ),
    ApiKey.SHARE_GROUP_HEARTBEAT: ShareGroupHeartbeatRequest(
        group_id="sharing", member_id="member", member_epoch=1, subscribed_topic_names=NAMES
    ),
}
NO_MEMBER = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNKNOWN_MEMBER_ID)


@pytest.mark.slice
@pytest.mark.parametrize("api_key", SUBSCRIPTIONS, ids=lambda api_key: APIS[api_key].name)
def test_subscription_to_very_many_topics_is_authorized_without_holding_the_event_loop(api_key: ApiKey) -> None:
    api = APIS[api_key]
    frame = request_frame(api, api.versions.last, 1, SUBSCRIPTIONS[api_key])
    with measured_node(config=WITH_AUTHORIZER) as (node, pauses):
        for resource_type in (ResourceType.TOPIC, ResourceType.GROUP):
            every = (resource_type, "*", PatternType.LITERAL)
            acl = AclBinding(*every, "User:*", "*", AclOperation.READ, AclPermission.ALLOW)
            node.cluster.image.security.acls.add(acl)
        pauses.longest = 0.0

        answer = ask(node.address, frame)

        # The callback that sends the response has ended, too.
        node.call(lambda: None)
        assert answer is not None
        _, response = decode_response_frame(api, api.versions.last, bytes(FRAME_SIZE_BYTES) + answer)
        assert number_in(response, "error_code", 0) in NO_MEMBER
        assert pauses.longest < PAUSE_SECONDS_MAX


EVERY_TOPIC = DeleteAclsFilter(
    resource_type_filter=ResourceType.TOPIC,
    resource_name_filter=None,
    pattern_type_filter=PatternType.ANY,
    principal_filter=None,
    host_filter=None,
    operation=AclOperation.ANY,
    permission_type=AclPermission.ANY,
)


def test_deletion_of_very_many_acls_of_a_topic_does_not_hold_the_event_loop() -> None:
    with measured_node(config=WITH_AUTHORIZER) as (node, pauses):
        acls = node.cluster.image.security.acls
        everything = (ResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL)
        acls.add(AclBinding(*everything, "User:*", "*", AclOperation.ALL, AclPermission.ALLOW))
        topic = (ResourceType.TOPIC, TOPIC.decode(), PatternType.LITERAL)
        for index in range(100_000):
            acls.add(AclBinding(*topic, f"User:{index}", "*", AclOperation.READ, AclPermission.ALLOW))
        request = DeleteAclsRequest(filters=[EVERY_TOPIC])
        pauses.longest = 0.0

        assert ask(node.address, request_frame(APIS[ApiKey.DELETE_ACLS], 3, 1, request)) is not None
        # The callback that sends the response has ended, too.
        left = node.call(lambda: len(acls))

        assert left == 1
        assert pauses.longest < PAUSE_SECONDS_MAX


def test_many_filters_that_mean_the_same_acls_do_not_hold_the_event_loop() -> None:
    with measured_node(config=WITH_AUTHORIZER) as (node, pauses):
        acls = node.cluster.image.security.acls
        everything = (ResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL)
        acls.add(AclBinding(*everything, "User:*", "*", AclOperation.ALL, AclPermission.ALLOW))
        for index in range(10_000):
            prefix = (ResourceType.TOPIC, f"topic-{index}", PatternType.PREFIXED)
            acls.add(AclBinding(*prefix, "User:alice", "*", AclOperation.READ, AclPermission.ALLOW))
        request = DeleteAclsRequest(filters=[EVERY_TOPIC] * 50)
        pauses.longest = 0.0

        assert ask(node.address, request_frame(APIS[ApiKey.DELETE_ACLS], 3, 1, request)) is not None
        # The callback that sends the response has ended, too.
        left = node.call(lambda: len(acls))

        assert left == 1
        assert pauses.longest < PAUSE_SECONDS_MAX

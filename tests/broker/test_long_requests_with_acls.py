"""A request of very many elements that an authorizer judges does not hold the event loop either."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fauxka.broker.handlers import HANDLERS
from fauxka.broker.security.acl.acl_types import CLUSTER_NAME, AclOperation, AclPermission, PatternType, ResourceType
from fauxka.broker.security.acl.acls import AclBinding
from fauxka.broker.security.acl.authorizer_config import CLASS_NAME
from fauxka.protocol.api_keys import ApiKey

from .measured_node import MeasuredNode, check_widest, measured_node
from .wide_requests import WideRequest, wide_requests

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


@pytest.mark.deep
@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_widest_denied_request_does_not_hold_the_event_loop(request_: WideRequest, without_acls: MeasuredNode) -> None:
    check_widest(request_, without_acls)


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_widest_request_for_denied_topics_does_not_hold_the_event_loop(
    request_: WideRequest, without_topics: MeasuredNode
) -> None:
    check_widest(request_, without_topics)

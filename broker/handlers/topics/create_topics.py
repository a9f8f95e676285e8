"""CreateTopics (19), versions 0-7.

v5 flexible, and the response has the topic's partition count and configs; v7 topic ids.
"""

from __future__ import annotations

from functools import partial

from ....protocol.acl_types import AclOperation, ResourceType
from ....protocol.error_codes import ErrorCode
from ....protocol.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ...requests.mutation_quota import record_mutations
from ...requests.permissions import permits
from ...requests.request_context import RequestContext
from ...requests.topic_creation import NOT_GIVEN, create_topics

# Earlier versions are served also above the client's quota of mutations.
STRICT_SINCE = 6


async def handle(context: RequestContext, request: CreateTopicsRequest) -> CreateTopicsResponse:
    """Create each valid topic."""
    response = await create_topics(context.node, request, partial(record_mutations, context, strict_since=STRICT_SINCE))
    if context.node.authorizer is not None:
        _hide_configs(context, response)
    return response


def _hide_configs(context: RequestContext, response: CreateTopicsResponse) -> None:
    """Remove the configs and counts of topics whose configs the client may not describe."""
    for topic in response.topics:
        if not topic.error_code and not permits(context, AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name):
            topic.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            topic.num_partitions = topic.replication_factor = NOT_GIVEN
            topic.configs = []

"""DescribeConfigs (32), versions 1-4.

Left out: documentation, which is null.
v1 source and synonyms; v3 type and documentation; v4 flexible.
Source: ConfigHelper.describeConfigs, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from ...config.config_resources import ResourceType, broker_id_of
from ...metadata import config_entries
from ...metadata.topic_validation import find_topic_name_error
from ...requests.request_context import ApiHandler, NodeServices, RequestContext

MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an "
    "incompatible broker. See the broker logs for more details."
)


def handle(context: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    """Describe each resource, in the order of the request."""
    results = [_describe(context.node, resource) for resource in request.resources]
    if not request.include_synonyms:
        for result in results:
            for entry in result.configs:
                entry.synonyms = []
    return DescribeConfigsResponse(results=results)


def _describe(node: NodeServices, resource: DescribeConfigsResource) -> DescribeConfigsResult:
    keys = resource.configuration_keys
    result = DescribeConfigsResult(resource_type=resource.resource_type, resource_name=resource.resource_name)
    try:
        # An empty list of keys means all keys, like null.
        result.configs = [entry for entry in _entries(node, resource) if not keys or entry.name in keys]
    except KafkaError as error:
        result.error_code, result.error_message = error.code, error.message
    return result


def _entries(node: NodeServices, resource: DescribeConfigsResource) -> Iterable[DescribeConfigsResourceResult]:
    name = resource.resource_name
    configs = node.image.configs
    match resource.resource_type:
        case ResourceType.TOPIC:
            return _topic_entries(node, name)
        case ResourceType.BROKER if not name:
            return config_entries.default_broker_entries(configs)
        case ResourceType.BROKER:
            _check_broker_id(node, name, "or empty string, but received")
            return config_entries.broker_entries(node.config, configs)
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_broker_id(node, name, "but received")
            return config_entries.logger_entries()
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
            return config_entries.client_metrics_entries(configs, name)
        case ResourceType.GROUP:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            return config_entries.group_entries(node.config, configs, name)
        case _:
            raise KafkaError(ErrorCode.INVALID_REQUEST, MALFORMED)


def _check_broker_id(node: NodeServices, name: str, words: str) -> None:
    if broker_id_of(name, "Broker id") != node.node_id:
        message = f"Unexpected broker id, expected {node.node_id} {words} {name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def _topic_entries(node: NodeServices, name: str) -> Iterable[DescribeConfigsResourceResult]:
    reason = find_topic_name_error(name)
    if reason is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
    topic = node.image.find_topic(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return config_entries.topic_entries(node.config, node.image.configs, topic.configs)


HANDLER = ApiHandler(DescribeConfigsRequest.read, handle)

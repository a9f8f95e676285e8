"""DescribeConfigs (32), versions 0-4.

Documentation is fauxka's own, and null for keys without an effect.
v0 is_default; v1 source and synonyms; v3 type and documentation; v4 flexible.
Source: ConfigHelper.describeConfigs, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....protocol.error_codes import ErrorCode, KafkaError
from ....protocol.host_and_port import address_text
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
from ...requests.request_context import NodeServices, RequestContext
from ...runtime.long_work import step

# Entries of one response; each takes about 500 bytes of memory. Kafka has no such limit.
ENTRIES_MAX = 100_000
TOO_MANY_ENTRIES = f"The resources before this one have {ENTRIES_MAX} configs; ask for it in another request."
PROTOCOL_MAP = "listener.security.protocol.map"
MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the message was sent to an "
    "incompatible broker. See the broker logs for more details."
)
# From this version on an entry has its source in place of is_default.
SOURCES_SINCE = 1


async def handle(context: RequestContext, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
    """Describe each resource, in the order of the request."""
    response = DescribeConfigsResponse()
    entries_left = ENTRIES_MAX
    for resource in request.resources:
        result = DescribeConfigsResult(resource_type=resource.resource_type, resource_name=resource.resource_name)
        response.results.append(result)
        try:
            if entries_left <= 0:
                raise KafkaError(ErrorCode.INVALID_REQUEST, TOO_MANY_ENTRIES)
            result.configs = _configs(context.node, resource, include_synonyms=request.include_synonyms)
            if context.api_version < SOURCES_SINCE:
                for entry in result.configs:
                    entry.is_default = entry.config_source == config_entries.ConfigSource.DEFAULT
            if request.include_documentation:
                keys = context.node.configs.keys
                config_entries.add_documentation(keys, resource.resource_type, result.configs)
        except KafkaError as error:
            result.error_code, result.error_message = error.code, error.message
        entries_left -= len(result.configs)
        await step()
    return response


def _configs(
    node: NodeServices, resource: DescribeConfigsResource, *, include_synonyms: bool
) -> list[DescribeConfigsResourceResult]:
    """Return the entries of the asked keys. Raises KafkaError."""
    # An empty list of keys means all keys, like null.
    keys = set(resource.configuration_keys or ())
    configs = [entry for entry in _entries(node, resource) if not keys or entry.name in keys]
    if not include_synonyms:
        for entry in configs:
            entry.synonyms = []
    return configs


def _entries(node: NodeServices, resource: DescribeConfigsResource) -> Iterable[DescribeConfigsResourceResult]:
    name = resource.resource_name
    match resource.resource_type:
        case ResourceType.TOPIC:
            return _topic_entries(node, name)
        case ResourceType.BROKER if not name:
            return config_entries.default_broker_entries(node.configs)
        case ResourceType.BROKER:
            _check_broker_id(node, name, "or empty string, but received")
            return config_entries.broker_entries(node.configs, listener_configs(node))
        case ResourceType.BROKER_LOGGER:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
            _check_broker_id(node, name, "but received")
            return config_entries.logger_entries()
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Client metrics subscription name must not be empty")
            return config_entries.client_metrics_entries(node.image.configs.client_metrics_configs.get(name, {}))
        case ResourceType.GROUP:
            if not name:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Group name must not be empty")
            return config_entries.group_entries(node.configs, node.image.configs.group_configs.get(name, {}))
        case _:
            raise KafkaError(ErrorCode.INVALID_REQUEST, MALFORMED)


def listener_configs(node: NodeServices) -> dict[str, str]:
    """Return the values of the keys of listeners as the broker has bound them; empty before it listens."""
    if not node.listeners:
        return {}
    values = {
        "listeners": ",".join(f"{each.name}://{address_text(each.host, each.port)}" for each in node.listeners),
        "advertised.listeners": ",".join(
            f"{each.name}://{address_text(each.advertised_host, each.advertised_port)}" for each in node.listeners
        ),
    }
    protocols = node.config.value_of(PROTOCOL_MAP)
    assert isinstance(protocols, str), f"{PROTOCOL_MAP} has a default"
    mapped = {pair.partition(":")[0].strip() for pair in protocols.split(",")}
    missing = [each.name for each in node.listeners if each.name not in mapped]
    if missing:
        values[PROTOCOL_MAP] = ",".join([protocols, *(f"{name}:PLAINTEXT" for name in missing)])
    return values


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
    return config_entries.topic_entries(node.configs, topic.configs)

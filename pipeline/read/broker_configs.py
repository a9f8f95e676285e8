"""Configs of topics and of a broker, by DescribeConfigs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...client.broker_connection import BrokerConnection
from ...client.errors import BrokerError
from ...protocol.api_keys import ApiKey
from ...protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from .broker_topics import connect, connect_to, read_metadata
from .options import LogOptions

# Resource types of a DescribeConfigs request.
_TOPIC, _BROKER = 2, 4


def topic_configs(options: LogOptions, topics: Iterable[str], key: str) -> dict[str, str | None]:
    """Return the value of a config by topic, without the topics whose configs the broker denies. Raises BrokerError."""
    with connect(options) as connection:
        found = _describe(connection, _TOPIC, topics, [key])
    return {topic: configs[key] for topic, configs in found.items() if key in configs}


def broker_configs(options: LogOptions, keys: Sequence[str]) -> dict[str, str | None]:
    """Return configs of one of the brokers. Raises BrokerError."""
    with connect(options) as connection:
        metadata = read_metadata(connection, [])
    if not metadata.brokers:
        raise BrokerError("the metadata has no brokers")
    # A broker describes only itself.
    broker = metadata.brokers[0]
    with connect_to((broker.host, broker.port), options) as connection:
        return _describe(connection, _BROKER, [str(broker.node_id)], keys).get(str(broker.node_id), {})


def _describe(
    connection: BrokerConnection, kind: int, names: Iterable[str], keys: Sequence[str]
) -> dict[str, dict[str, str | None]]:
    resources = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=list(keys))
        for name in sorted(names)
    ]
    request = DescribeConfigsRequest(resources=resources)
    response = connection.send(ApiKey.DESCRIBE_CONFIGS, request, DescribeConfigsResponse.read)
    return {
        result.resource_name: {config.name: config.value for config in result.configs} for result in response.results
    }

"""DescribeConfigs of a broker, a topic and a group in one release of Kafka, as release_configs-RELEASE.jsonl.

    python -m tests.golden.capture_release_configs HOST:PORT 2.1

Needs a fresh broker with node id 1: with ZooKeeper before 3.3, with KRaft from 3.3 on. A line is one key: the resource,
the name, and the value, source, type, synonyms (name, value, source) and flags (r: read-only, s: sensitive) of its
entry. The value of a static config is left out, because it has the addresses and folders of the machine.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from fauxka.broker.config.config_resources import ResourceType
from fauxka.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fauxka.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)

from ..wire.message_client import MessageClient

FOLDER = Path(__file__).parent
STATIC_BROKER = 4
CREATE_TOPICS_VERSION = 2
# The configs of the second topic; each release has these keys.
TOPIC_CONFIGS = {"retention.ms": "1000", "cleanup.policy": "compact,delete", "min.insync.replicas": "1"}
RESOURCES = ((ResourceType.BROKER, "1"), (ResourceType.TOPIC, "plain"), (ResourceType.TOPIC, "configured"))
# The first release in which a fresh broker has the configs of groups.
FIRST_WITH_GROUPS = (4, 0)
# The first of these releases with version 4 of DescribeConfigs, which has the types of entries.
FIRST_WITH_TYPES = (2, 8)

Line = dict[str, object]


def file_of(release: str) -> Path:
    """Return the file of a release."""
    return FOLDER / f"release_configs-{release}.jsonl"


def captured_releases() -> list[str]:
    """Return the releases that have a file, the oldest first."""
    names = [path.stem.rpartition("-")[2] for path in FOLDER.glob("release_configs-*.jsonl")]
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


def describe(address: str, release: str) -> Iterator[Line]:
    """Create the topics and return a line for each entry of each resource."""
    number = tuple(int(part) for part in release.split("."))
    with MessageClient(address) as client:
        client.call(_creation(), CREATE_TOPICS_VERSION, CreateTopicsResponse)
        groups = ((ResourceType.GROUP, "billing"),) if number >= FIRST_WITH_GROUPS else ()
        for resource_type, name in (*RESOURCES, *groups):
            resource = DescribeConfigsResource(resource_type=resource_type, resource_name=name, configuration_keys=None)
            request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
            version = 4 if number >= FIRST_WITH_TYPES else 1
            response = client.call(request, version, DescribeConfigsResponse)
            result = response.results[0]
            assert result.error_code == 0, f"{resource_type.name} {name}: {result.error_code} {result.error_message}"
            yield from lines_of(f"{resource_type.name.lower()} {name}", result.configs)


def lines_of(resource: str, entries: Sequence[DescribeConfigsResourceResult]) -> Iterator[Line]:
    """Return the lines of the entries of a resource, in the order of their names."""
    for entry in sorted(entries, key=lambda each: each.name):
        flags = ("r" if entry.read_only else "") + ("s" if entry.is_sensitive else "")
        is_static = entry.config_source == STATIC_BROKER
        yield {
            "of": resource,
            "name": entry.name,
            "value": "..." if is_static else entry.value,
            "source": entry.config_source,
            "type": entry.config_type,
            "synonyms": [
                [each.name, "..." if each.source == STATIC_BROKER else each.value, each.source]
                for each in entry.synonyms
            ],
            "flags": flags,
        }


def _creation() -> CreateTopicsRequest:
    configs = [CreatableTopicConfig(name=name, value=value) for name, value in TOPIC_CONFIGS.items()]
    return CreateTopicsRequest(
        topics=[
            CreatableTopic(name="plain", num_partitions=1, replication_factor=1),
            CreatableTopic(name="configured", num_partitions=1, replication_factor=1, configs=configs),
        ],
        timeout_ms=30_000,
    )


def main() -> None:
    """Capture one release."""
    address, release = sys.argv[1:]
    lines = [json.dumps(line, separators=(",", ":")) for line in describe(address, release)]
    file_of(release).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

"""A cluster without sockets, whose handlers of admin requests are called directly."""

from dataclasses import dataclass, field

from fauxka.broker.cluster import Cluster
from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.handlers.cluster import describe_configs, incremental_alter_configs
from fauxka.broker.handlers.topics import create_topics
from fauxka.broker.metadata.metadata_image import TopicImage
from fauxka.broker.network.listeners import Listener
from fauxka.broker.replica.partition import Partition
from fauxka.broker.requests.connection_info import ConnectionInfo
from fauxka.broker.requests.request_context import RequestContext
from fauxka.broker.runtime.clock import AdjustableClock
from fauxka.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fauxka.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from ...golden.capture_batches import batch
from ...manual_clock import manual_clock
from ..steps import result_of

TOPIC, BROKER = 2, 4
THIS_BROKER, DEFAULT_BROKER = "1", ""
SET, DELETE = 0, 1


@dataclass
class AdminScene:
    """A cluster with a manual clock."""

    config: dict[str, str] = field(default_factory=dict[str, str])
    clock: AdjustableClock = field(default_factory=manual_clock)

    def __post_init__(self) -> None:
        self.cluster = Cluster(BrokerConfig.from_entries(self.config), clock=self.clock)

    def context(self, version: int) -> RequestContext:
        listener = Listener("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1", 9092)
        context = RequestContext(self.cluster.node, ConnectionInfo(1, listener, "127.0.0.1"))
        context.api_version = version
        return context

    def create_topics(self, *topics: CreatableTopic) -> CreateTopicsResponse:
        request = CreateTopicsRequest(topics=list(topics), timeout_ms=30_000)
        response = result_of(create_topics.handle(self.context(7), request))
        return response

    def topic(self, name: str, **configs: str) -> TopicImage:
        """Create a topic of one partition; underscores in the names of configs stand for dots."""
        entries = [CreatableTopicConfig(name=key.replace("_", "."), value=text) for key, text in configs.items()]
        asked = CreatableTopic(name=name, num_partitions=1, replication_factor=1, configs=entries)
        assert self.create_topics(asked).topics[0].error_code == 0
        topic = self.cluster.image.find_topic(name)
        assert topic is not None
        return topic

    def change(
        self, kind: int, name: str, key: str, value: str | None, *, operation: int = SET, validate_only: bool = False
    ) -> int:
        """Change one key, and return the error code."""
        entry = AlterableConfig(name=key, config_operation=operation, value=value)
        resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[entry])
        request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
        response = result_of(incremental_alter_configs.handle(self.context(1), request))
        return response.responses[0].error_code

    def described(self, kind: int, name: str, key: str) -> str | None:
        """Return the value that DescribeConfigs tells."""
        resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=[key])
        response = result_of(describe_configs.handle(self.context(4), DescribeConfigsRequest(resources=[resource])))
        return response.results[0].configs[0].value

    def partition_of(self, topic: TopicImage, index: int) -> Partition:
        """Return a partition of the topic."""
        return self.cluster.node.replicas.partition_of(topic.name, index)

    def append(self, topic: TopicImage, value: bytes = b"value") -> None:
        """Append one record of now; raises AppendRefused."""
        now_ms = self.clock.now_ms()
        self.partition_of(topic, 0).append(memoryview(batch([now_ms], value=value)), now_ms)

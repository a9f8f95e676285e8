"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs and ListConfigResources."""

from fauxka.protocol.messages import alter_configs, incremental_alter_configs
from fauxka.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fauxka.protocol.messages.list_config_resources import ListConfigResourcesRequest

from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import Acls, on_cluster, on_group, on_topic

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
NODE = "1"
LOGGER = "org.apache.kafka"
# A config of each type of resource, and a value for it that is not its default.
CONFIG_OF = {
    TOPIC: ("retention.ms", "86400000"),
    BROKER: ("log.cleaner.threads", "2"),
    BROKER_LOGGER: (LOGGER, "ERROR"),
    CLIENT_METRICS: ("interval.ms", "60000"),
    GROUP: ("consumer.session.timeout.ms", "46000"),
}
TYPES = {
    "a topic": TOPIC,
    "a broker": BROKER,
    "broker loggers": BROKER_LOGGER,
    "client metrics": CLIENT_METRICS,
    "a group": GROUP,
}


def _resource_name(scene: Scene, resource_type: int, name: str) -> str:
    if resource_type in (BROKER, BROKER_LOGGER):
        return NODE
    if resource_type == TOPIC and name == "name":
        return scene.topic("name").name
    return scene.name(name)


def _describe(scene: Scene) -> None:
    resources = [
        DescribeConfigsResource(
            resource_type=resource_type,
            resource_name=_resource_name(scene, resource_type, name),
            configuration_keys=[CONFIG_OF[resource_type][0]],
        )
        for resource_type in TYPES.values()
        for name in (("name", "missing") if resource_type == TOPIC else ("name",))
    ]
    scene.send(4, DescribeConfigsRequest(resources=resources))


def _alter(scene: Scene) -> None:
    resources = [
        alter_configs.AlterConfigsResource(
            resource_type=resource_type,
            resource_name=_resource_name(scene, resource_type, name),
            configs=[alter_configs.AlterableConfig(name=key, value=value)],
        )
        for resource_type, (key, value) in CONFIG_OF.items()
        for name in (("name", "missing") if resource_type == TOPIC else ("name",))
        if resource_type != BROKER_LOGGER
    ]
    scene.send(2, alter_configs.AlterConfigsRequest(resources=resources, validate_only=True))


def _alter_incrementally(scene: Scene) -> None:
    resources = [
        incremental_alter_configs.AlterConfigsResource(
            resource_type=resource_type,
            resource_name=_resource_name(scene, resource_type, name),
            configs=[incremental_alter_configs.AlterableConfig(name=key, value=value)],
        )
        for resource_type, (key, value) in CONFIG_OF.items()
        for name in (("name", "missing") if resource_type == TOPIC else ("name",))
    ]
    scene.send(1, incremental_alter_configs.IncrementalAlterConfigsRequest(resources=resources, validate_only=True))


def _list_resources(scene: Scene) -> None:
    scene.send(1, ListConfigResourcesRequest(resource_types=[BROKER, CLIENT_METRICS]))


def _list_client_metrics(scene: Scene) -> None:
    scene.send(0, ListConfigResourcesRequest())


def _acls(operation: str, *lesser: str) -> dict[str, Acls]:
    named = {
        "topic": on_topic("*", operation),
        "group": on_group("*", operation),
        "cluster": on_cluster(operation),
    }
    return {
        "no ACL": (),
        **{f"{name} of all": on_topic("*", name) + on_group("*", name) + on_cluster(name) for name in lesser},
        **{f"{operation} of each {kind}": acls for kind, acls in named.items()},
        f"{operation} of topic and group": on_topic("name", operation) + on_group("name", operation),
        f"{operation} of all": named["topic"] + named["group"] + named["cluster"],
    }


_LISTS: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": on_cluster("DESCRIBE"),
    "DESCRIBE_CONFIGS": on_cluster("DESCRIBE_CONFIGS"),
    "ALTER_CONFIGS": on_cluster("ALTER_CONFIGS"),
}

CASES: list[AclCase] = [
    *each("DescribeConfigs v4", _describe, _acls("DESCRIBE_CONFIGS", "DESCRIBE", "ALTER_CONFIGS")),
    *each("AlterConfigs v2", _alter, _acls("ALTER_CONFIGS", "ALTER", "DESCRIBE_CONFIGS")),
    *each("IncrementalAlterConfigs v1", _alter_incrementally, _acls("ALTER_CONFIGS", "ALTER", "DESCRIBE_CONFIGS")),
    *each("ListConfigResources v1", _list_resources, _LISTS),
    *each("ListConfigResources v0", _list_client_metrics, _LISTS),
]

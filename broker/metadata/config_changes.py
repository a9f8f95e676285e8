"""Changes to configs: what a list of operations comes to, whether it may be so, and putting it into force.

Source: ConfigAdminManager.preprocess, ConfigurationControlManager.incrementalAlterConfigResource and
ControllerConfigurationValidator, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ...protocol.error_codes import ErrorCode, KafkaError
from ..config.config_keys import BROKER_KEYS, TOPIC_KEYS, ConfigKey
from ..config.config_operations import Change, Operation
from ..config.config_resources import ResourceType, broker_id_of
from ..config.config_types import ConfigError, ConfigType
from .controller import Controller
from .dynamic_broker_rules import check_broker_configs, check_client_metrics, check_group_configs
from .metadata_image import MetadataImage
from .topic_config import validate_topic_configs
from .topic_names import find_topic_name_error


@dataclass(frozen=True, slots=True)
class Resource:
    """Whose configs: kind is a number as it came, which need not be a ResourceType."""

    kind: int
    name: str


def check_changes(node_id: int, resource: Resource, changes: Sequence[Change]) -> None:
    """Raise KafkaError INVALID_REQUEST for what is wrong whatever is set already."""
    keys = [change.key for change in changes]
    if len(set(keys)) != len(keys):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [change.key for change in changes if change.value is None and change.operation != Operation.DELETE]
    if nulls:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")
    is_one_broker = resource.kind == ResourceType.BROKER and resource.name
    if is_one_broker and broker_id_of(resource.name, "Node id") != node_id:
        message = f"Unexpected broker id, expected {node_id}, but received {resource.name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def current_texts(image: MetadataImage, resource: Resource) -> dict[str, str]:
    """Return what is set for the resource; raises KafkaError INVALID_REQUEST for a kind that nobody can change."""
    configs = image.configs
    match resource.kind:
        case ResourceType.TOPIC:
            topic = image.find_topic(resource.name)
            return {} if topic is None else topic.configs
        case ResourceType.BROKER:
            return configs.of_broker if resource.name else configs.of_all_brokers
        case ResourceType.CLIENT_METRICS:
            return configs.of_client_metrics.get(resource.name, {})
        case ResourceType.GROUP:
            return configs.of_groups.get(resource.name, {})
        case _:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.kind}")


def changed(resource: Resource, current: Mapping[str, str], changes: Iterable[Change]) -> dict[str, str]:
    """Return what would be set after the changes.

    Raises KafkaError: INVALID_CONFIG for a list operation on no list; for an unknown operation, as Kafka does,
    INVALID_REQUEST on a broker and UNKNOWN_SERVER_ERROR elsewhere.
    """
    texts = dict(current)
    for change in changes:
        match change.operation:
            case Operation.SET:
                texts[change.key] = change.value or ""
            case Operation.DELETE:
                texts.pop(change.key, None)
            case Operation.APPEND | Operation.SUBTRACT:
                texts[change.key] = _changed_list(resource, texts.get(change.key), change)
            case _ if resource.kind == ResourceType.BROKER:
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {change.operation}")
            case _:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return texts


def _changed_list(resource: Resource, current: str | None, change: Change) -> str:
    key = _key_of(resource, change.key)
    if key is None or key.config_type is not ConfigType.LIST:
        raise _not_a_list(resource, change)
    before = key.default if current is None else current
    items = [item for item in (before or "").split(",") if item]
    asked = (change.value or "").split(",")
    if change.operation == Operation.APPEND:
        items += [item for item in dict.fromkeys(asked) if item not in items]
    else:
        items = [item for item in items if item not in asked]
    return ",".join(items)


def _key_of(resource: Resource, name: str) -> ConfigKey | None:
    if resource.kind == ResourceType.TOPIC:
        return TOPIC_KEYS.get(name)
    return BROKER_KEYS.get(name) if resource.kind == ResourceType.BROKER else None


def _not_a_list(resource: Resource, change: Change) -> KafkaError:
    operation = Operation(change.operation).name
    if resource.kind == ResourceType.BROKER:
        message = f"Config value {operation.lower()} is not allowed for config key: {change.key}"
    else:
        message = f"Can't {operation} to key {change.key} because its type is not LIST."
    return KafkaError(ErrorCode.INVALID_CONFIG, message)


def replace_configs(controller: Controller, resource: Resource, texts: dict[str, str], *, validate_only: bool) -> None:
    """Set exactly these texts for the resource, if they may be set, and put them into force.

    Raises KafkaError: INVALID_CONFIG, INVALID_REQUEST, INVALID_TOPIC_EXCEPTION, UNKNOWN_TOPIC_OR_PARTITION; nothing is
    changed then, nor with validate_only.
    """
    configs = controller.image.configs
    match resource.kind:
        case ResourceType.TOPIC:
            _replace_topic_configs(controller, resource.name, texts, validate_only=validate_only)
        case ResourceType.BROKER:
            check_broker_configs(configs, texts, of_all_brokers=not resource.name)
            if not validate_only:
                if resource.name:
                    configs.of_broker = texts
                else:
                    configs.of_all_brokers = texts
                controller.apply_dynamic_configs()
        case ResourceType.CLIENT_METRICS:
            check_client_metrics(resource.name, texts)
            if not validate_only:
                configs.of_client_metrics[resource.name] = texts
                controller.metadata_changed()
        case ResourceType.GROUP:
            check_group_configs(configs.current, resource.name, texts)
            if not validate_only:
                configs.of_groups[resource.name] = texts
                controller.metadata_changed()
        case _:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.kind}")


def _replace_topic_configs(controller: Controller, name: str, texts: dict[str, str], *, validate_only: bool) -> None:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    reason = find_topic_name_error(name)
    if reason is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, reason)
    try:
        validate_topic_configs(controller.image.configs.current, texts)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error
    topic = controller.image.find_topic(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    if not validate_only:
        controller.alter_topic_configs(topic, texts)


class NamedResource(Protocol):
    """A resource as a request names it."""

    resource_type: int
    resource_name: str


Asked = TypeVar("Asked", bound=NamedResource)


def change_each(resources: Sequence[Asked], change: Callable[[Asked], None]) -> list[KafkaError | None]:
    """Change each resource that is named once, and return why each was refused, None for those that were not.

    One that is refused leaves the others alone.
    """
    counts = Counter((asked.resource_type, asked.resource_name) for asked in resources)
    refusals: list[KafkaError | None] = []
    for asked in resources:
        try:
            if counts[asked.resource_type, asked.resource_name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            change(asked)
            refusals.append(None)
        except KafkaError as error:
            refusals.append(error)
    return refusals

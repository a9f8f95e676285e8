"""Applies the operations of AlterConfigs and IncrementalAlterConfigs: validate, compute the new configs, replace.

Source: ConfigAdminManager.preprocess, ConfigurationControlManager.incrementalAlterConfigResource and
ControllerConfigurationValidator, Kafka 4.3.0; tests/golden/configs-4.3.0.jsonl.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.message_fields import number_in
from ..config.config_keys import ConfigKey, ReleaseKeys
from ..config.config_resources import AlterConfigOp, ConfigResource, OpType, ResourceType, broker_id_of
from ..config.config_types import ConfigError, ConfigType
from ..runtime.long_work import for_each, step
from .controller import Controller
from .dynamic_broker_rules import (
    check_broker_configs,
    check_client_metrics,
    check_group_configs,
    check_min_insync_replicas,
)
from .features import ELR_VERSION
from .metadata_image import MetadataImage
from .topic_config import check_fixed_configs, validate_topic_configs
from .topic_validation import find_topic_name_error


class AlteringNode(Protocol):
    """The broker that alters its own configs, or those of the cluster."""

    check_listener_configs: Callable[[Mapping[str, str]], None] | None

    @property
    def node_id(self) -> int:
        """The id of the broker."""
        ...

    @property
    def controller(self) -> Controller:
        """The writer of the metadata."""
        ...


class RequestedConfig(Protocol):
    """A config in a request."""

    name: str
    value: str | None


def op_of(config: RequestedConfig) -> AlterConfigOp:
    """Return the operation of a config in a request; without one of its own, it sets the value."""
    return AlterConfigOp(config.name, number_in(config, "config_operation", OpType.SET), config.value)


class RequestResource(Protocol):
    """A resource in a request."""

    resource_type: int
    resource_name: str


class RequestedChange(RequestResource, Protocol):
    """A resource in a request, with its new configs."""

    configs: Sequence[RequestedConfig]


def check_ops(node_id: int, resource: ConfigResource, ops: Sequence[AlterConfigOp]) -> None:
    """Raise KafkaError INVALID_REQUEST if the operations are invalid for any current configs."""
    keys = [op.key for op in ops]
    if len(set(keys)) != len(keys):
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    nulls = [op.key for op in ops if op.value is None and op.op_type != OpType.DELETE]
    if nulls:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(nulls)}")
    is_one_broker = resource.resource_type == ResourceType.BROKER and resource.name
    if is_one_broker and broker_id_of(resource.name, "Node id") != node_id:
        message = f"Unexpected broker id, expected {node_id}, but received {resource.name}"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)


async def is_refused_unauthorized(node: AlteringNode, requested: RequestedChange, *, is_incremental: bool) -> bool:
    """Return whether a change is invalid for the broker, which finds that before it authorizes the client.

    The broker checks the operations of all resources, and the new configs of brokers; the controller checks the rest.
    """
    resource = ConfigResource(requested.resource_type, requested.resource_name)
    ops = await for_each(op_of, requested.configs)
    try:
        check_ops(node.node_id, resource, ops)
        if resource.resource_type == ResourceType.BROKER:
            current = current_configs(node.controller.image, resource) if is_incremental else {}
            configs = apply_ops(node.controller.image.configs.keys, resource, current, ops)
            _replace_broker_configs(node, resource.name, configs, validate_only=True)
    except KafkaError:
        return True
    return False


def current_configs(image: MetadataImage, resource: ConfigResource) -> dict[str, str]:
    """Return the configs of the resource. Raises KafkaError INVALID_REQUEST for a type that cannot be altered."""
    configs = image.configs
    match resource.resource_type:
        case ResourceType.TOPIC:
            topic = image.find_topic(resource.name)
            return {} if topic is None else topic.configs
        case ResourceType.BROKER:
            # The caller has checked the id: a broker changes no configs but its own.
            return configs.nodes[int(resource.name)].broker_configs if resource.name else configs.default_broker_configs
        case ResourceType.CLIENT_METRICS:
            return configs.client_metrics_configs.get(resource.name, {})
        case ResourceType.GROUP:
            return configs.group_configs.get(resource.name, {})
        case _:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.resource_type}")


def apply_ops(
    keys: ReleaseKeys, resource: ConfigResource, current: Mapping[str, str], ops: Iterable[AlterConfigOp]
) -> dict[str, str]:
    """Return the configs after the operations. keys: those of the release.

    Raises KafkaError: INVALID_CONFIG for APPEND or SUBTRACT on a key that is not a list. For an unknown operation, as
    Kafka does, INVALID_REQUEST on a broker and UNKNOWN_SERVER_ERROR on other resources.
    """
    configs = dict(current)
    for op in ops:
        match op.op_type:
            case OpType.SET:
                configs[op.key] = op.value or ""
            case OpType.DELETE:
                configs.pop(op.key, None)
            case OpType.APPEND | OpType.SUBTRACT:
                configs[op.key] = _alter_list(keys, resource, configs.get(op.key), op)
            case _ if resource.resource_type == ResourceType.BROKER:
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {op.op_type}")
            case _:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
    return configs


def _alter_list(keys: ReleaseKeys, resource: ConfigResource, current: str | None, op: AlterConfigOp) -> str:
    key = _find_key(keys, resource, op.key)
    if key is None or key.config_type is not ConfigType.LIST:
        operation = OpType(op.op_type).name
        if resource.resource_type == ResourceType.BROKER:
            message = f"Config value {operation.lower()} is not allowed for config key: {op.key}"
        else:
            message = f"Can't {operation} to key {op.key} because its type is not LIST."
        raise KafkaError(ErrorCode.INVALID_CONFIG, message)
    before = key.default if current is None else current
    items = [item for item in (before or "").split(",") if item]
    operands = (op.value or "").split(",")
    if op.op_type == OpType.APPEND:
        items += [item for item in dict.fromkeys(operands) if item not in items]
    else:
        items = [item for item in items if item not in operands]
    return ",".join(items)


def _find_key(keys: ReleaseKeys, resource: ConfigResource, name: str) -> ConfigKey | None:
    if resource.resource_type == ResourceType.TOPIC:
        return keys.topic.get(name)
    return keys.broker.get(name) if resource.resource_type == ResourceType.BROKER else None


def replace_configs(
    node: AlteringNode, resource: ConfigResource, texts: dict[str, str], *, validate_only: bool
) -> None:
    """Validate the texts, and replace the configs of the resource by them unless validate_only.

    node: the broker that has the request.
    Raises KafkaError: INVALID_CONFIG, INVALID_REQUEST, INVALID_TOPIC_EXCEPTION, UNKNOWN_TOPIC_OR_PARTITION. The configs
    are unchanged then.
    """
    controller = node.controller
    configs = controller.image.configs
    match resource.resource_type:
        case ResourceType.TOPIC:
            _replace_topic_configs(controller, resource.name, texts, validate_only=validate_only)
        case ResourceType.BROKER:
            _replace_broker_configs(node, resource.name, texts, validate_only=validate_only)
        case ResourceType.CLIENT_METRICS:
            check_client_metrics(resource.name, texts)
            if not validate_only:
                configs.client_metrics_configs[resource.name] = texts
                controller.metadata_changed()
        case ResourceType.GROUP:
            check_group_configs(configs.current, resource.name, texts)
            if not validate_only:
                configs.group_configs[resource.name] = texts
                controller.metadata_changed()
        case _:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource.resource_type}")


def _replace_broker_configs(node: AlteringNode, name: str, texts: dict[str, str], *, validate_only: bool) -> None:
    controller = node.controller
    configs = controller.image.configs
    of_node = configs.nodes[node.node_id]
    check_broker_configs(of_node, texts, node.check_listener_configs if name else None, is_default=not name)
    if controller.image.features.level_of(ELR_VERSION):
        check_min_insync_replicas(of_node.broker_configs, texts, is_default=not name)
    if validate_only:
        return
    if name:
        of_node.broker_configs = texts
    else:
        configs.replace_default_broker_configs(texts)
    controller.apply_dynamic_configs()


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
    try:
        check_fixed_configs(topic.configs, texts)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error
    if not validate_only:
        controller.alter_topic_configs(topic, texts)


Resource = TypeVar("Resource", bound=RequestResource)


async def alter_each(
    resources: Sequence[Resource], alter: Callable[[Resource], Awaitable[None]]
) -> list[KafkaError | None]:
    """Take the steps of alter for each resource. Return the error of each, or None.

    A resource that appears more than once is refused. An error of one resource does not affect the others.
    """
    counts = Counter((resource.resource_type, resource.resource_name) for resource in resources)
    errors: list[KafkaError | None] = []
    for resource in resources:
        try:
            if counts[resource.resource_type, resource.resource_name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            await alter(resource)
            errors.append(None)
        except KafkaError as error:
            errors.append(error)
        await step()
    return errors

"""Operations that create and delete topics, with Kafka's checks and messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from ...broker.config.broker_config import BrokerConfig
from ...broker.config.config_types import ConfigError
from ...broker.handlers.topics.delete_topics import delete_topics
from ...broker.metadata.topic_config import validate_topic_configs
from ...broker.requests.topic_creation import NOT_GIVEN, create_topics
from ...protocol.error_codes import ErrorCode
from ...protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ...protocol.messages.delete_topics import DeleteTopicState
from ..control import Control
from ..errors import CallError
from ..long_calls import run_long_call
from ..operation import Operation
from .topic_operations import TAG, TopicInfo, TopicPath, get_topic

# Of the simulated request; nothing waits for it.
TIMEOUT_MS = 60_000
# Longer names and values are errors of Kafka; these limits only bound the messages.
NAME_CHARACTERS_MAX = 1000
PARTITIONS_MAX = 2**31 - 1

Text = Annotated[str, Meta(max_length=32_767)]
Name = Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX)]
PartitionCount = Annotated[int, Meta(ge=1, le=PARTITIONS_MAX)]

# The field of a NewTopic that each error of Kafka is about. All other errors depend on the state of the broker.
FIELD_OF_ERROR = {
    ErrorCode.INVALID_TOPIC_EXCEPTION: "name",
    ErrorCode.INVALID_REQUEST: "name",
    ErrorCode.INVALID_PARTITIONS: "partitions",
    ErrorCode.POLICY_VIOLATION: "partitions",
    ErrorCode.INVALID_CONFIG: "configs",
}


class NewTopic(Struct, kw_only=True, forbid_unknown_fields=True):
    """A topic to create.

    partitions: null for `num.partitions`. configs: Kafka's topic configs; numbers and booleans stand for their text.
    """

    name: Name
    partitions: PartitionCount | None = None
    configs: dict[Name, Text | int | float | bool] = {}


async def create_topic(control: Control, body: NewTopic) -> TopicInfo:
    """Create a topic, as CreateTopics does. The journal records requests of clients only, so not this call."""
    node = control.node_at_controller()
    texts = {name: _config_text(value) for name, value in body.configs.items()}
    _check_configs(node.config, texts)
    configs = [CreatableTopicConfig(name=name, value=text) for name, text in texts.items()]
    partitions = NOT_GIVEN if body.partitions is None else body.partitions
    topic = CreatableTopic(
        name=body.name, num_partitions=partitions, replication_factor=NOT_GIVEN, assignments=[], configs=configs
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS, validate_only=False)
    response = await run_long_call(control, create_topics(node, request))
    (result,) = response.topics
    if result.error_code:
        raise _error(result.error_code, result.error_message, body)
    return get_topic(control, TopicPath(topic=body.name))


async def delete_topic(control: Control, path: TopicPath) -> TopicInfo:
    """Delete a topic with its records, as DeleteTopics does, and return it as it was."""
    node = control.node_at_controller()
    before = get_topic(control, path)
    states: Sequence[DeleteTopicState] = [DeleteTopicState(name=path.topic)]
    response = await run_long_call(control, delete_topics(node, states, timeout_ms=TIMEOUT_MS))
    (result,) = response.responses
    if result.error_code:
        code = ErrorCode(result.error_code)
        message = f"{path.topic} cannot be deleted: {code.name} {result.error_message or ''}".rstrip()
        raise CallError(409, message, field="topic", value=path.topic)
    return before


def _config_text(value: str | int | float | bool) -> str:
    """Return a config as Kafka has it, as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_configs(config: BrokerConfig, configs: dict[str, str]) -> None:
    """Check each config for itself, so that the error has its name. Raises CallError 400."""
    for name, text in configs.items():
        try:
            validate_topic_configs(config, {name: text})
        except ConfigError as error:
            keys = config.keys.topic
            allowed = "a value that Kafka accepts" if name in keys else f"the topic configs {', '.join(sorted(keys))}"
            message = f"{ErrorCode.INVALID_CONFIG.name}: {error}"
            raise CallError(400, message, field=f"configs.{name}", value=text, allowed=allowed) from error


def _error(error_code: int, message: str | None, topic: NewTopic) -> CallError:
    code = ErrorCode(error_code)
    field = FIELD_OF_ERROR.get(code)
    text = f"{code.name}: {message}" if message else code.name
    if field is None:
        return CallError(409, text, field="name", value=topic.name)
    return CallError(400, text, field=field, value=getattr(topic, field), allowed=_allowed(field))


def _allowed(field: str) -> str:
    match field:
        case "name":
            return "1 to 249 ASCII letters, digits, '.', '_' and '-'"
        case "partitions":
            return "1 to 10000 partitions"
        case _:
            return "topic configs that Kafka accepts together"


OPERATIONS = (
    Operation(method="POST", path="/v1/topics", perform=create_topic, tag=TAG, status=201, errors=(409,)),
    Operation(method="DELETE", path="/v1/topics/{topic}", perform=delete_topic, tag=TAG, errors=(404, 409)),
)

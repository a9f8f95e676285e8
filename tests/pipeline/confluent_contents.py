"""Contents in Avro and Protobuf with Confluent's header, by the serializers of confluent-kafka."""

from collections.abc import Callable
from typing import Any

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.json_format import ParseDict

from .order_schemas import message_class
from .registry_server import RegistryServer

Serialize = Callable[[dict[str, Any]], bytes]

# The type checkers do not find the parameters of these classes.
_avro_serializer: Any = AvroSerializer
_protobuf_serializer: Any = ProtobufSerializer


def avro_serializer(registry: RegistryServer, schema: str | Schema, topic: str = "orders") -> Serialize:
    """Return a function that serializes values of a topic, and registers the schema."""
    serializer = _avro_serializer(SchemaRegistryClient({"url": registry.url}), schema)
    return lambda value: bytes(serializer(value, SerializationContext(topic, MessageField.VALUE)))


def protobuf_serializer(registry: RegistryServer, name: str, topic: str = "orders") -> Serialize:
    """Return a function that serializes messages with the given fields, and registers the schema and its imports."""
    message_type = message_class(name)
    client = SchemaRegistryClient({"url": registry.url})
    serializer = _protobuf_serializer(message_type, client, {"use.deprecated.format": False})
    context = SerializationContext(topic, MessageField.VALUE)
    return lambda fields: bytes(serializer(ParseDict(fields, message_type()), context))

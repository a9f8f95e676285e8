"""The options that say by which schemas keys and values are decoded, as a user sets them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Content: TypeAlias = Literal["key", "value"]
Format: TypeAlias = Literal["avro", "protobuf"]
SchemaIdBytes: TypeAlias = Literal[4, 8]

CONFLUENT_ID_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class SchemaOptions:
    """Schemas of keys and values: files, or a schema registry for contents with Confluent's header.

    key_schema, value_schema: paths of an Avro schema or of a descriptor set of Protobuf. key_message, value_message:
    full names of messages; None for the only one of a file. is_framed: with a file too, Confluent's header is in front
    of each content. schema_id_bytes: of the schema id in that header; 8 in that of Apicurio's older serializers.
    schema_registry: a URL. schema_registry_user: `user:password`.
    """

    key_schema: str | None = None
    value_schema: str | None = None
    key_message: str | None = None
    value_message: str | None = None
    is_framed: bool = False
    schema_id_bytes: SchemaIdBytes = CONFLUENT_ID_BYTES
    schema_registry: str | None = None
    schema_registry_user: str | None = field(default=None, repr=False)

    @property
    def is_set(self) -> bool:
        """Whether there is a schema."""
        return any((self.key_schema, self.value_schema, self.schema_registry))

    def file_of(self, content: Content) -> str | None:
        """Return the path of the schema of a content."""
        return self.key_schema if content == "key" else self.value_schema

    def message_of(self, content: Content) -> str | None:
        """Return the name of the message of a content."""
        return self.key_message if content == "key" else self.value_message


NO_SCHEMAS: Final = SchemaOptions()

"""Every generated message in every version, with its kio entity."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pkgutil import iter_modules
from typing import Any, cast

from kio.schema.index import schema_name_map

from fauxka.protocol import messages
from fauxka.protocol.message import Message
from fauxka.protocol.primitives import Reader, Writer


@dataclass(frozen=True, slots=True)
class MessageVersion:
    """One message in one version. module: the name of the module and of kio's package. name: of the class."""

    module: str
    name: str
    version: int
    kio_path: str

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"

    @property
    def message_class(self) -> type[Message]:
        return message_class(self.module, self.name)

    @property
    def entity_class(self) -> type[Any]:
        module, name = self.kio_path.split(":")
        return cast("type[Any]", getattr(importlib.import_module(module), name))

    def encoded(self, message: Message) -> bytes:
        writer = Writer()
        message.write(writer, self.version)
        return writer.getvalue()

    def read(self, reader: Reader) -> Message:
        return self.message_class.read(reader, self.version)

    def decoded(self, encoded: bytes) -> Message:
        reader = Reader(encoded)
        message = self.read(reader)
        assert reader.remaining == 0, f"{reader.remaining} of {len(encoded)} bytes are left"
        return message


def message_class(module: str, name: str) -> type[Message]:
    return cast("type[Message]", getattr(importlib.import_module(f"fauxka.protocol.messages.{module}"), name))


MESSAGE_VERSIONS = [
    MessageVersion(module, path.split(":")[1], version, path)
    for module in sorted(found.name for found in iter_modules(messages.__path__))
    # kio does not have what came with Kafka 4.4: test_messages_of_kafka.py.
    for version, paths in sorted(schema_name_map.get(module, {}).items())
    for _, path in sorted(paths.items(), key=lambda item: item[0].name)
]

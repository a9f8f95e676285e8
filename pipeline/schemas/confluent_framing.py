"""The header that Confluent's serializers write in front of a content, and that of Apicurio's older ones for Avro.

    0, schema id (4 bytes), Avro
    0, schema id (8 bytes), Avro, by Apicurio
    0, schema id (4 bytes), number of message indexes, message indexes, Protobuf message

The numbers of Protobuf are zigzag varints. The indexes lead from the file to the message: 1, 0 is the first message
inside the second one. The single byte 0 stands for the index 0.
Source: the wire format in the documentation of Confluent's Schema Registry, and SchemaId of confluent-kafka 2.16;
DefaultIdHandler of Apicurio Registry 2.6.
"""

from __future__ import annotations

from struct import Struct

from .schema_options import SchemaIdBytes
from .undecodable_content import UndecodableContent

MAGIC = 0
# Magic and schema id, by the bytes of the id.
_HEADERS = {4: Struct(">BI"), 8: Struct(">BQ")}
# More than any file nests messages.
INDEXES_MAX = 64
_VARINT_BYTES_MAX = 5


def split_header(content: bytes, id_bytes: SchemaIdBytes) -> tuple[int, bytes]:
    """Return the schema id and what follows it. Raises UndecodableContent."""
    header = _HEADERS[id_bytes]
    if len(content) < header.size or content[0] != MAGIC:
        raise UndecodableContent("there is no schema id in front of it")
    return header.unpack_from(content)[1], content[header.size :]


def split_message_indexes(content: bytes) -> tuple[tuple[int, ...], bytes]:
    """Return the message indexes, at least one, and the message. Raises UndecodableContent."""
    count, position = _read_number(content, 0)
    if count == 0:
        return (0,), content[position:]
    if count > INDEXES_MAX:
        raise UndecodableContent(f"it has {count} message indexes")
    indexes: list[int] = []
    for _ in range(count):
        index, position = _read_number(content, position)
        indexes.append(index)
    return tuple(indexes), content[position:]


def _read_number(content: bytes, position: int) -> tuple[int, int]:
    """Return a zigzag varint that is not negative, and the position behind it."""
    value = 0
    for size, byte in enumerate(content[position : position + _VARINT_BYTES_MAX]):
        value |= (byte & 0x7F) << 7 * size
        if byte < 0x80:
            if value & 1:
                break
            return value >> 1, position + size + 1
    raise UndecodableContent("its message indexes are invalid")

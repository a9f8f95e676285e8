"""Kafka's wire types as bytes, apart from the broker's own: an oracle must not share code with what it judges."""

import struct


class RawWriter:
    """Bytes in the order they are written; nothing is checked, so that wrong frames can be made too."""

    def __init__(self) -> None:
        self.buffer = bytearray()

    def raw(self, value: bytes) -> None:
        self.buffer += value

    def int8(self, value: int) -> None:
        self.buffer += struct.pack(">b", value)

    def int16(self, value: int) -> None:
        self.buffer += struct.pack(">h", value)

    def int32(self, value: int) -> None:
        self.buffer += struct.pack(">i", value)

    def int64(self, value: int) -> None:
        self.buffer += struct.pack(">q", value)

    def unsigned_varint(self, value: int) -> None:
        while value > 0x7F:
            self.buffer.append(value & 0x7F | 0x80)
            value >>= 7
        self.buffer.append(value)

    def varint(self, value: int) -> None:
        """Zigzag, as inside of records."""
        self.unsigned_varint((value << 1) if value >= 0 else ((-value) << 1) - 1)

    def getvalue(self) -> bytes:
        return bytes(self.buffer)


class RawReader:
    """Takes values off the front of a frame; raises EOFError when it is too short."""

    def __init__(self, buffer: bytes) -> None:
        self.buffer = buffer
        self.position = 0

    def take(self, size: int) -> bytes:
        if size < 0 or self.position + size > len(self.buffer):
            raise EOFError(f"{size} bytes wanted at {self.position} of {len(self.buffer)}")
        self.position += size
        return self.buffer[self.position - size : self.position]

    def int8(self) -> int:
        return int.from_bytes(self.take(1), "big", signed=True)

    def int16(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def int64(self) -> int:
        return int.from_bytes(self.take(8), "big", signed=True)

    def unsigned_varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return value
            shift += 7

    def varint(self) -> int:
        value = self.unsigned_varint()
        return (value >> 1) ^ -(value & 1)

"""What all generated messages, and the structs inside them, have in common."""

from __future__ import annotations

from typing import ClassVar, Self

from .primitives import Reader, Writer


class Message:
    """An object with a slot for each field of all versions, equal to others by its values.

    No dataclass: such a class takes many times as long to be made, and the first request of an API waits for that.
    """

    __slots__: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        """Read one as this version lays it out; raises FrameError."""
        raise NotImplementedError

    def write(self, writer: Writer, version: int) -> None:
        """Write it as this version lays it out; raises ValueError for what does not fit."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Tell whether this is a message of the same class with the same values."""
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __repr__(self) -> str:
        """Return what it would be made with."""
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({values})"

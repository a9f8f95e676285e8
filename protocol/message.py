"""The base class of generated messages and of the structs inside them."""

from __future__ import annotations

from typing import ClassVar, Self

from .primitives import Reader, Writer


class Message:
    """A slot for each field of all versions, and equality by value.

    Subclasses are not dataclasses: those take many times as long to define, and the first request of an API waits.
    """

    __slots__: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        """Read the fields of this version. Raises FrameError."""
        raise NotImplementedError

    def write(self, writer: Writer, version: int) -> None:
        """Write the fields of this version. Raises ValueError for a value that does not fit its field."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Return whether other has the same class and the same values."""
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __repr__(self) -> str:
        """Return the constructor call."""
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({values})"

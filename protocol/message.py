"""The base class of generated messages and of the structs inside them, and the metaclass that makes their slots.

A subclass lists the fields of all versions, each with its type and its default, as a dataclass does. Type checkers
derive its constructor from that list. Subclasses are not dataclasses: those take many times as long to define, and the
first request of an API waits. A constructor is compiled when it is called for the first time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import ClassVar, Self, TypeVar, cast, dataclass_transform

from .primitives import Reader, Writer

T = TypeVar("T")


def new(make: Callable[[], T]) -> T:
    """Return the default of a field that is a new object in each message. make: called for each message."""
    return cast(T, make)


def new_list(element: type[T]) -> list[T]:
    """Return the default of a field that is a new empty list in each message. element: its type, for type checkers."""
    return cast("list[T]", list)


@dataclass_transform(kw_only_default=True)
class MessageType(type):
    """Class of the message classes: turns the fields of a class into slots and keeps their defaults."""

    # By field, in the order of the slots. A callable is called for each message.
    defaults: Mapping[str, object]

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object]) -> MessageType:
        """Create a class. A class without bases has no fields."""
        if bases:
            fields = cast("dict[str, str]", namespace.get("__annotations__", {}))
            namespace["__slots__"] = tuple(fields)
            namespace["defaults"] = {field: namespace.pop(field) for field in fields}
        return super().__new__(cls, name, bases, namespace)


class Message(metaclass=MessageType):
    """A slot for each field of all versions, and equality by value."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **fields: object) -> None:
        """Set the fields; an omitted field has its default."""
        constructor = _constructor_of(type(self).defaults)
        type.__setattr__(type(self), "__init__", constructor)
        constructor(self, **fields)

    @classmethod
    def read(cls, reader: Reader, version: int) -> Self:
        """Return a message with the fields of this version. Raises FrameError."""
        message = object.__new__(cls)
        message.read_fields(reader, version)
        return message

    def read_fields(self, reader: Reader, version: int) -> None:
        """Read the fields of this version; the others get their defaults. Raises FrameError."""
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


def _constructor_of(defaults: Mapping[str, object]) -> FunctionType:
    """Return an `__init__` with a keyword for each field. A loop over the fields would take more than twice as long."""
    parameters = ["self", *(["*"] if defaults else []), *defaults]
    lines = [f"def __init__({', '.join(parameters)}):", "    pass"]
    for name, default in defaults.items():
        lines.append(
            f"    self.{name} = {f'make_{name}() if {name} is ... else {name}' if callable(default) else name}"
        )
    namespace = {f"make_{name}": default for name, default in defaults.items()}
    exec("\n".join(lines), namespace)
    constructor = cast(FunctionType, namespace["__init__"])
    constructor.__kwdefaults__ = {name: ... if callable(default) else default for name, default in defaults.items()}
    return constructor

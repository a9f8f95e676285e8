"""The base of small classes whose objects are compared and printed by their fields, as named tuples are.

Every Produce makes some. Compiled, they are structs: a field is read by one load, and a named tuple's by a call.
"""

from __future__ import annotations


class ComparedFields:
    """An object that equals another one of its class with the same fields. It must not change once it is compared."""

    __slots__ = ()

    def fields(self) -> tuple[object, ...]:
        """Return the fields in the order of the constructor."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Whether other is of the same class, with the same fields."""
        return isinstance(other, ComparedFields) and type(other) is type(self) and self.fields() == other.fields()

    def __hash__(self) -> int:
        """Return the hash of the fields."""
        return hash(self.fields())

    def __repr__(self) -> str:
        """Return the class and the fields."""
        return f"{type(self).__name__}({', '.join(map(repr, self.fields()))})"

"""What an action of file fault rules declares. The rules, the page, OpenAPI and the tables of docs/faults.md read it.

The modules of file actions import no msgspec: brokers load them without a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple, Protocol, Self

from ..family import Family
from .operation_kind import ALL_OPERATIONS, KindsByOperation


class CrashFields(Protocol):
    """A crash of the node, as SIGKILL does."""

    @property
    def restart_after_ms(self) -> int | None:
        """When the node starts again, on the broker's clock; None for no restart."""
        ...


class ParameterFields(Protocol):
    """The parameters of a rule; None for one that is not given."""

    @property
    def bytes(self) -> int | None:
        """A number of bytes."""
        ...

    @property
    def ms(self) -> int | None:
        """A time."""
        ...

    @property
    def crash(self) -> CrashFields | None:
        """A crash of the node."""
        ...


ParameterName = Literal["bytes", "ms", "crash"]


class Parameter(NamedTuple):
    """A parameter of an action. least: of a number."""

    name: ParameterName
    least: int = 0
    is_required: bool = False


class FileRecipe(NamedTuple):
    """A button of the page. fields: of the rule, beside its action. family: that of the action by default."""

    label: str
    effect: str
    fields: Mapping[str, object]
    family: Family | None = None


class DeclaredFileAction:
    """An action of file rules. Each class declares itself. The first line of its docstring is its documentation.

    kinds: what it applies to, by the operations that are possible for it.
    is_lasting: a state of the disk, which lasts until the rule is removed.
    """

    __slots__ = ()

    name: ClassVar[str]
    family: ClassVar[Family]
    kinds: ClassVar[KindsByOperation] = ALL_OPERATIONS
    is_lasting: ClassVar[bool] = False
    parameters: ClassVar[Sequence[Parameter]] = ()
    recipes: ClassVar[Sequence[FileRecipe]] = ()

    @classmethod
    def of(cls, given: ParameterFields) -> Self:
        """Return the action with the parameters of a valid rule."""
        return cls()

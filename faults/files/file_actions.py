"""Actions of file fault rules: one class an action, with all that the product knows of it (file_action_declaration.py).

In JSON a rule is flat: `action` names the action, and `bytes`, `ms` and `crash` are its parameters (file_rules.py). The
action is created once from a valid rule and matched by class.
"""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, Self

from ..family import Family
from .file_action_declaration import CrashFields, DeclaredFileAction, FileRecipe, Parameter, ParameterFields
from .operation_kind import ALL_CHANGES, ONLY_GROWTHS, ONLY_WRITES

_OF_LOG = {"file_kind": "log"}


@dataclass(frozen=True, slots=True)
class Fail(DeclaredFileAction):
    """Do nothing and fail with EIO."""

    error_number: int = errno.EIO

    name = "fail"
    family = Family.CUT
    recipes = (
        FileRecipe("Failed fsync", "The next flush of a log fails with EIO.", {"operation": "fsync", **_OF_LOG}),
    )


@dataclass(frozen=True, slots=True)
class DiskFull(Fail):
    """Refuse what needs space (ENOSPC), until the rule is removed."""

    error_number: int = errno.ENOSPC

    name = "disk_full"
    kinds = ONLY_GROWTHS
    is_lasting = True
    recipes = (FileRecipe("Disk full", "Appends fail with ENOSPC until the rule is removed.", {}),)


@dataclass(frozen=True, slots=True)
class ReadOnly(Fail):
    """Refuse every change (EROFS), until the rule is removed."""

    error_number: int = errno.EROFS

    name = "read_only"
    kinds = ALL_CHANGES
    is_lasting = True
    recipes = (FileRecipe("Read only", "Changes of files fail with EROFS until the rule is removed.", {}),)


@dataclass(frozen=True, slots=True)
class Slow(DeclaredFileAction):
    """Take `ms` longer."""

    ms: int

    name = "slow"
    family = Family.SLOW
    parameters = (Parameter("ms", least=1, is_required=True),)
    recipes = (
        FileRecipe("Slow write", "The next append takes 2 s longer.", {"ms": 2000, "operation": "write", **_OF_LOG}),
        FileRecipe(
            "Slow fsync", "The next flush of a log takes 2 s longer.", {"ms": 2000, "operation": "fsync", **_OF_LOG}
        ),
    )

    @classmethod
    def of(cls, given: ParameterFields) -> Self:
        """Return the action with the delay of a rule."""
        return cls(given.ms or 0)


@dataclass(frozen=True, slots=True)
class Tear(DeclaredFileAction):
    """Write the first `bytes` bytes, at most all but one, and fail with EIO; with `crash`, the node crashes there."""

    byte_count: int
    crash: CrashFields | None

    name = "tear"
    family = Family.DAMAGE
    kinds = ONLY_WRITES
    parameters = (Parameter("bytes", is_required=True), Parameter("crash"))
    recipes = (
        FileRecipe("Torn write", "The next append to a log fails after 30 bytes.", {"bytes": 30, **_OF_LOG}),
        FileRecipe(
            "Torn write and crash",
            "The same, and the node crashes and starts again.",
            {"bytes": 30, **_OF_LOG, "crash": {"restart_after_ms": 0}},
            Family.CUT,
        ),
    )

    @classmethod
    def of(cls, given: ParameterFields) -> Self:
        """Return the action with the bytes and the crash of a rule."""
        return cls(given.bytes or 0, given.crash)


@dataclass(frozen=True, slots=True)
class Lose(DeclaredFileAction):
    """Report success; the change disappears when the node stops or crashes."""

    name = "lose"
    family = Family.CUT
    recipes = (
        FileRecipe("Lost write", "The next append succeeds, until the node stops.", {"operation": "write", **_OF_LOG}),
    )


class ContentChange(DeclaredFileAction, ABC):
    """A write of other bytes."""

    __slots__ = ()

    family = Family.DAMAGE
    kinds = ONLY_WRITES

    @abstractmethod
    def changed(self, content: bytes) -> bytes:
        """Return what is written instead of content, in as many bytes."""


@dataclass(frozen=True, slots=True)
class Corrupt(ContentChange):
    """Flip all bits of the last `bytes` bytes of a write, 1 by default."""

    byte_count: int

    name = "corrupt"
    parameters = (Parameter("bytes", least=1),)
    recipes = (FileRecipe("Corrupt write", "The next append succeeds, with two wrong bytes.", {"bytes": 2, **_OF_LOG}),)

    @classmethod
    def of(cls, given: ParameterFields) -> Self:
        """Return the action with the bytes of a rule."""
        return cls(given.bytes or 1)

    def changed(self, content: bytes) -> bytes:
        """Return content with the bits of its last bytes flipped, at most of all of them."""
        start = max(0, len(content) - self.byte_count)
        return content[:start] + bytes(byte ^ 0xFF for byte in content[start:])


# Actions that change what the operation does, after Fail and Slow have acted.
WriteAction = Tear | Lose | ContentChange
FileAction = Fail | Slow | WriteAction

FileActionName = Literal["fail", "tear", "lose", "slow", "disk_full", "read_only", "corrupt"]
# In the order of the page.
FILE_ACTIONS: tuple[type[FileAction], ...] = (DiskFull, ReadOnly, Tear, Slow, Fail, Corrupt, Lose)
FILE_ACTIONS_BY_NAME: dict[str, type[FileAction]] = {each.name: each for each in FILE_ACTIONS}

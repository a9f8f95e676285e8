"""Actions of file fault rules: one class an action, created once from a valid rule and matched by class.

In JSON a rule is flat: `action` names the action, and `bytes`, `ms` and `crash` are its parameters (see file_rules).
`disk_full` and `read_only` are Fail with the error number of that state.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fail:
    """Do nothing and raise OSError(error_number)."""

    error_number: int


@dataclass(frozen=True, slots=True)
class Crash:
    """Crash the node, as SIGKILL does. restart_after_ms: on the broker's clock; None for no restart."""

    restart_after_ms: int | None


@dataclass(frozen=True, slots=True)
class Tear:
    """Write the first byte_count bytes, at most all but one, and raise OSError(EIO). crash: crash the node first."""

    byte_count: int
    crash: Crash | None


@dataclass(frozen=True, slots=True)
class Lose:
    """Report success. The effect of the operation disappears when the node stops or crashes."""


@dataclass(frozen=True, slots=True)
class Slow:
    """Take ms longer."""

    ms: int


@dataclass(frozen=True, slots=True)
class Corrupt:
    """Flip all bits of the last byte_count bytes of a write."""

    byte_count: int


# Actions that change what the operation does, after Fail and Slow have acted.
WriteAction = Tear | Lose | Corrupt
FileAction = Fail | Slow | WriteAction

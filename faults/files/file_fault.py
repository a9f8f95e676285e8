"""What a rule does to one operation on a file, in plain numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFault:
    """One hit of a rule; numbers that its action has no use for are 0.

    action: as rules name it. error_number: what the operation fails by, errno's.
    byte_count: what a torn write leaves, or how many bytes are corrupt. ms: how slow it is.
    is_crash: whether the node stops there; restart_after_ms: when it is started again, None for never.
    """

    rule_id: int
    action: str
    error_number: int = 0
    byte_count: int = 0
    ms: int = 0
    is_crash: bool = False
    restart_after_ms: int | None = None

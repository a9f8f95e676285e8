"""Fault: one hit of a fault rule. The broker's fault injector applies it."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.error_codes import ErrorCode
from .action_declaration import Applied, Partitions
from .action_refusals import Scope
from .actions import Action, Error, kind_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One hit of a rule.

    partitions, topics: the parts of the request that matched; empty if the rule matches on neither.
    scope: the part of the request that gets the error of an Error.
    """

    rule_id: int
    action: Action
    partitions: Partitions = frozenset()
    topics: frozenset[str] = frozenset()
    scope: Scope = "request"

    @property
    def kind(self) -> str:
        """The kind of the action, as in JSON."""
        return kind_of(self.action)

    @property
    def is_error(self) -> bool:
        """Whether the action is an Error."""
        return isinstance(self.action, Error)

    @property
    def is_applied_later(self) -> bool:
        """Whether a request on which the action acts at received is applied later."""
        return self.action.applied is Applied.LATER

    @property
    def error_code(self) -> int:
        """The code of an Error; 0 of any other action."""
        return error_code_of(self.action.error) if isinstance(self.action, Error) else 0

    def chooses(self, topic: str, partition: int | None) -> bool:
        """Return whether the fault applies to this partition of the request. None is the entry of the topic itself."""
        if self.scope == "topic" and self.topics:
            return topic in self.topics
        if self.scope == "partition" and self.topics:
            if partition is None:
                return topic in self.topics
            return not self.partitions or (topic, partition) in self.partitions
        return True


def error_code_of(error: str | int) -> int:
    """Return the code of an error's name, or the code itself. Raises KeyError for an unknown name."""
    return error if isinstance(error, int) else ErrorCode[error].value

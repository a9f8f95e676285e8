"""The topics of an audit, to which a ledger and a journal are restricted."""

from __future__ import annotations

from dataclasses import dataclass

from ..read.options import LogOptions


@dataclass(frozen=True, slots=True)
class AuditedTopics:
    """The topics that the options of an audit select, and the names of those in the log.

    A topic that is selected and not in the log is audited too: all its acknowledged records are lost.
    """

    options: LogOptions
    names: frozenset[str]

    def has(self, topic: str) -> bool:
        """Whether the audit includes the topic."""
        return self.options.is_wanted(topic)

    @property
    def only_name(self) -> str | None:
        """The topic of an audit of one topic; otherwise null."""
        return next(iter(self.names)) if len(self.names) == 1 else None

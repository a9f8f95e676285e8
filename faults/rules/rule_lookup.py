"""Errors of a lookup of a rule by its id or name."""

from __future__ import annotations


class UnknownRuleError(LookupError):
    """No rule in force has this id or name."""


class AmbiguousRuleError(LookupError):
    """Several rules in force have this name. The message lists their ids."""

"""Errors of a lookup of a rule by its id or name."""

from __future__ import annotations

from ... import FauxkaError


class UnknownRuleError(FauxkaError, LookupError):
    """No rule in force has this id or name."""


class AmbiguousRuleError(FauxkaError, LookupError):
    """Several rules in force have this name. The message lists their ids."""

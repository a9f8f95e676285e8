"""Why a hunt cannot begin."""

from __future__ import annotations

from ... import FauxkaError


class CannotHunt(FauxkaError):
    """The program fails or differs without a fault; the message says how, in one line."""


class StoppedEarly(CannotHunt):
    """A person has stopped the hunt before its first trial."""


class BadHuntOption(FauxkaError, ValueError):
    """A value that cannot be used; the message names the option, the value and what is allowed."""

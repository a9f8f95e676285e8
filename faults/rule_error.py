"""InvalidValueError: an invalid value in a call, with its field and what is allowed; RuleError: one in a rule."""

from __future__ import annotations

from typing import Self

from .. import FauxkaError

# The value of an error is cut to this length: a body may be large.
_SHOWN_CHARACTERS_MAX = 200

JsonObject = dict[str, object]


class InvalidValueError(FauxkaError, ValueError):
    """An invalid value in a body, a parameter or an argument.

    field: its path, such as "match.partition" or "match.topic[1].regex"; "" for the whole document.
    value: as JSON, None for a missing field. allowed: a description of the allowed values.
    """

    def __init__(self, field: str, value: object, allowed: str, message: str) -> None:
        """Create the error; a long value is cut."""
        super().__init__(message)
        self.field = field
        self.value = _shortened(value)
        self.allowed = allowed
        self.message = message

    def without_value(self) -> Self:
        """Return the error without its value, which may be a secret, also one in a misspelled field."""
        return type(self)(self.field, None, self.allowed, f"{self.field} is not valid; allowed: {self.allowed}")

    def as_json(self) -> JsonObject:
        """Return the parts under their names in a response body."""
        return {"field": self.field, "value": self.value, "allowed": self.allowed, "message": self.message}


class RuleError(InvalidValueError):
    """An invalid value in a rule, in an argument of a recipe, or in a filter, which is the match of a rule.

    A model about rules declares it as its `error_type`, which strict_json raises for its values.
    """


def _shortened(value: object) -> object:
    """Return the value, or the start of its text if that is too long."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    shown = value if isinstance(value, str) else repr(value)
    if len(shown) <= _SHOWN_CHARACTERS_MAX:
        return value
    return shown[:_SHOWN_CHARACTERS_MAX] + "..."

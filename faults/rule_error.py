"""RuleError: an invalid value in a rule, a body or a parameter, with its field and what is allowed."""

from __future__ import annotations

from .. import FauxkaError

# The value of an error is cut to this length: a body may be large.
_SHOWN_CHARACTERS_MAX = 200

JsonObject = dict[str, object]


class RuleError(FauxkaError, ValueError):
    """An invalid value.

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

    def without_value(self) -> RuleError:
        """Return the error without its value, which may be a secret, also one in a misspelled field."""
        return RuleError(self.field, None, self.allowed, f"{self.field} is not valid; allowed: {self.allowed}")

    def as_json(self) -> JsonObject:
        """Return the parts under their names in a response body."""
        return {"field": self.field, "value": self.value, "allowed": self.allowed, "message": self.message}


def _shortened(value: object) -> object:
    """Return the value, or the start of its text if that is too long."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    shown = value if isinstance(value, str) else repr(value)
    if len(shown) <= _SHOWN_CHARACTERS_MAX:
        return value
    return shown[:_SHOWN_CHARACTERS_MAX] + "..."

"""The one refusal of what somebody asks of the admin side: which field, what stood there, what may stand there."""

from __future__ import annotations

# What of a text that was refused is repeated; the rest says nothing more, and a body may be large.
_SHOWN_CHARACTERS_MAX = 200

JsonObject = dict[str, object]


class RuleError(Exception):
    """A rule, or any other body or parameter, that cannot be.

    field: its path, such as "match.partition", "match.topic[1].regex" or "" for the whole.
    value: what stood there, as JSON has it; None too where a field is missing. allowed: in words.
    """

    def __init__(self, field: str, value: object, allowed: str, message: str) -> None:
        """Keep the four parts of the refusal."""
        super().__init__(message)
        self.field = field
        self.value = _shortened(value)
        self.allowed = allowed
        self.message = message

    def as_json(self) -> JsonObject:
        """Return the parts by the names that they have in an answer."""
        return {"field": self.field, "value": self.value, "allowed": self.allowed, "message": self.message}


def _shortened(value: object) -> object:
    """Return the value, or the start of how it reads if it is long or holds other values that may be."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    shown = value if isinstance(value, str) else repr(value)
    if len(shown) <= _SHOWN_CHARACTERS_MAX:
        return value
    return shown[:_SHOWN_CHARACTERS_MAX] + "..."

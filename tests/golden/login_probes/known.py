"""The login probes whose answers differ, each with the reason."""

from __future__ import annotations

from .names import SPACES
from .names import code_of as code

_JAVA_SPACES = " \t\n\r\x0b\x0c\x1c\x1f"
_CONTROLS = "\x00\x01\x07"
ON_PURPOSE: dict[str, str] = {
    "token: claims with trailing comma on SIGNED": "Kafka reads a comma behind the last member; docs/differences.md",
}
# To be mended, by reason.
_TRIMMED = "The principal of a signed token is trimmed as Java does not trim it"
_BLANK = "A principal of a no-break space alone is blank"
_ESCAPED = "The name of a certificate is not escaped as Java does"
_RULES = ("NAMES", "RULES", "UPPER")
KNOWN: dict[str, str] = {
    **{
        f"signed token: {code(character)} {place} on SIGNED": _TRIMMED
        for character in SPACES
        if character not in _JAVA_SPACES
        for place in ("before", "behind")
    },
    **{f"signed token: {code(character)} behind on SIGNED": _TRIMMED for character in _CONTROLS},
    **{
        f"signed token: super user {place} on SIGNED": _TRIMMED
        for place in (
            "behind an em space",
            "before a no-break space",
            "before a next line",
            "behind an ideographic space",
        )
    },
    **{f"token: claims with {name} on SIGNED": _TRIMMED for name in ("escaped NUL", "NUL")},
    "signed token: no-break space alone on SIGNED": _BLANK,
    "unsecured token: no-break space alone on SASL_SSL": _BLANK,
    **{
        f"certificate: {name} on {listener}": _ESCAPED
        for name in (
            "NUL",
            "carriage return",
            "equals sign",
            "hash inside",
            "plus in the CN",
            "space alone",
            "two spaces around",
        )
        for listener in _RULES
    },
    **{
        f"certificate: OU of administrators in the {name} on {listener}": _ESCAPED
        for name in ("CN", "O")
        for listener in _RULES[:2]
    },
    "certificate: e-mail address on NAMES": _ESCAPED,
    "certificate: serial number, title and given name on NAMES": _ESCAPED,
}


def find_reason(name: str) -> str | None:
    """Return why fauxka's answer differs in a case; None if it must be equal. name: of the case and its listener."""
    return {**ON_PURPOSE, **KNOWN}.get(name)

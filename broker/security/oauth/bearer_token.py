"""Bearer tokens as the exchange of OAUTHBEARER has them, whatever validates them."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from typing import NamedTuple, Protocol, cast

from ....protocol.frames import FrameError
from ....security.java_text import is_blank

# Of the tokens that we issue.
ISSUED_ALGORITHM = "RS256"
# Without padding or with the padding that belongs there, as java.util.Base64 decodes.
_BASE64URL = re.compile(r"(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?")
# StreamReadConstraints.DEFAULT_MAX_NUM_LEN of Jackson.
_DIGITS_MAX = 1000


class BearerToken(NamedTuple):
    """A token that was accepted. expires_at_ms: in ms since the epoch."""

    principal: str
    expires_at_ms: int


class InvalidToken(Exception):
    """A token that was refused. reason: for the log, without a part of the token. scope: what the token has not."""

    def __init__(self, reason: str, scope: str | None = None) -> None:
        """scope: None for any other reason."""
        super().__init__(reason)
        self.reason = reason
        self.scope = scope


class TokenValidator(Protocol):
    """Accepts or refuses tokens."""

    def prepare(self) -> None:
        """Get what the first token needs. May wait for the network, so it is called in a thread."""
        ...

    def find_principal(self, token: str) -> str | None:
        """Return the principal that a token names, None for none. Nothing is verified."""
        ...

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """Return the principal of a token.

        Raises InvalidToken. Raises FrameError for a token to which Kafka does not respond.
        """
        ...


class RejectingValidator:
    """A TokenValidator that accepts no token."""

    def __init__(self, other: TokenValidator) -> None:
        """other: knows which claim is the principal."""
        self.find_principal = other.find_principal

    def prepare(self) -> None:
        """Do nothing."""

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """Raise InvalidToken."""
        raise InvalidToken("a fault rule rejects it")


def find_text_claim(token: str, name: str) -> str | None:
    """Return a claim of a token of which nothing is verified, None if it has no such text, or a blank one."""
    _, _, rest = token.partition(".")
    payload, _, _ = rest.partition(".")
    try:
        claims = json.loads(decode_base64url(payload), parse_int=read_number, parse_float=read_number)
    except (InvalidToken, *JSON_ERRORS):
        return None
    value = cast("dict[str, object]", claims).get(name) if isinstance(claims, dict) else None
    return without_surrogates(value) if isinstance(value, str) and not is_blank(value) else None


def without_surrogates(name: str) -> str:
    """Return the name as UTF-8 can encode it: \\ud800 for half of a surrogate pair.

    Java keeps the half. No name in a request or a config has one, so no other character may stand for it.
    """
    return name.encode(errors="backslashreplace").decode()


def decode_base64url(text: str) -> bytes:
    """Return the bytes of base64url. Raises InvalidToken."""
    if _BASE64URL.fullmatch(text) is None:
        raise InvalidToken("malformed Base64 URL encoded value")
    stripped = text.rstrip("=")
    return urlsafe_b64decode(stripped + "=" * (-len(stripped) % 4))


def read_number(text: str) -> float:
    """Return the number of a JSON text, infinite beyond the range of a double. Raises InvalidToken if it is long."""
    if len(text) > _DIGITS_MAX:
        raise InvalidToken(f"malformed JSON: a number of {len(text)} digits")
    return float(text)


def refuse_constant(name: str) -> object:
    """Refuse NaN and Infinity, which Python reads and Java does not. Raises InvalidToken."""
    raise InvalidToken(f"malformed JSON: {name}")


def end_without_response(reason: str) -> FrameError:
    """Return the error for a token by which Kafka's authenticator fails."""
    return FrameError(f"failed authentication: {reason}")


# Everything that the two readers of JSON raise for bytes that are none: nesting that is too deep, too.
JSON_ERRORS = (json.JSONDecodeError, UnicodeDecodeError, RecursionError)

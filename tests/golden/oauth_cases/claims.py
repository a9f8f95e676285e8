"""The claims that other modules start from."""

from __future__ import annotations

from collections.abc import Mapping

from ..case_recorder import Json
from ..oauth_brokers import AUDIENCES, ISSUER
from ..oauth_tokens import Jws

Claims = Mapping[str, Json]

ALICE: Claims = {"sub": "alice", "exp": "now+600"}
VALID = Jws(ALICE)
EXPIRED = Jws({**ALICE, "exp": "now-10"})

SIGNED_CLAIMS: Claims = {
    "sub": "alice",
    "iss": ISSUER,
    "aud": AUDIENCES[0],
    "iat": "now-1",
    "exp": "now+600",
    "scope": "kafka",
}
RS256: Claims = {"alg": "RS256", "kid": "first"}
SIGNED = Jws(SIGNED_CLAIMS, RS256, "first")

# Characters that Java, Python or Unicode takes for a space, and some that they do not.
SPACES = "\0\t\x0b\x1f \x7f\x85\xa0\u1680\u2003\u2007\u2028\u202f\u3000\ufeff"


def without(claims: Claims, *names: str) -> Claims:
    """Return the claims but those of these names."""
    return {name: value for name, value in claims.items() if name not in names}

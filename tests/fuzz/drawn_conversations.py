"""The conversations of clients that never authenticate: each is drawn from the seed and its index alone.

Most keep to the order of the protocol, with a wrong token at the end. The others send requests of any API, frames that
are changed, cut or too large, bytes without a frame, or nothing. None has what would authenticate it.
"""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from random import Random
from typing import Any

from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import RequestMessage, request_frame
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from fauxka.protocol.messages.sasl_handshake import SaslHandshakeRequest

from .drawn_requests import World
from .frames import MUTATIONS, SIZE, Frame, draw_frame

# Of a user, and beside it what a broker must not tell a client that has not authenticated.
HIDDEN = "hidden"
USER, PASSWORD, TOPIC, GROUP = (f"{HIDDEN}-{what}" for what in ("user", "password", "topic", "group"))
USERS = (USER, USER, "unknown", "", "\u00e9", "x" * 5000)
SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = ("PLAIN", *SCRAM, "OAUTHBEARER")
OTHER_MECHANISMS = ("", "GSSAPI", "plain", "PLAIN\0", "\u00e9" * 200, "x" * 30_000)
NONCE = b"nonce-of-the-client"
# sasl.server.max.receive.size by default.
FRAME_BYTES_MAX = 512 * 1024
WRONG_SIZES = (-1, -(2**31), 0, 3, FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 2**31 - 1)
TLS_SHARE, PIPELINED_SHARE, MUTATED_SHARE, WRONG_SIZE_SHARE = 0.15, 0.3, 0.15, 0.05
# Of each part of a token.
USUAL_SHARE = 0.8
# These may carry a token into another field, which a log line may have.
_SAFE_MUTATIONS = tuple(MUTATIONS[name] for name in MUTATIONS if name not in ("spliced", "other API"))


class Ending(Enum):
    """What the client does after its last frame.

    READ: sends a frame of a negative size, for which the broker closes after its responses, and reads until then.
    LEAVE: closes. RESET: closes with a RST. STAY: sends nothing more, and stays connected.
    """

    READ = auto()
    LEAVE = auto()
    RESET = auto()
    STAY = auto()


@dataclass(frozen=True, slots=True)
class ScramFinal:
    """The final message of SCRAM with a wrong proof, for the nonce that the server returns."""

    proof: bytes
    correlation_id: int
    is_bare: bool

    def data(self, server_first: bytes) -> bytes:
        """Return the frame. server_first: the message with the nonce, or anything else."""
        start = server_first.find(b"r=")
        nonce = server_first[start:].split(b",", 1)[0] if start >= 0 else b"r=unknown"
        return _token_frame(b"c=biws," + nonce + b",p=" + self.proof, self.correlation_id, is_bare=self.is_bare)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The frames of one connection.

    is_pipelined: they are written together. is_encrypted: False on a listener with TLS is bytes in place of TLS.
    is_bare: a SaslHandshake of version 0 may have been taken, so that tokens have no header.
    """

    seed: int
    index: int
    listener: str
    is_encrypted: bool
    frames: Sequence[Frame | ScramFinal]
    is_pipelined: bool
    is_bare: bool
    ending: Ending

    def __str__(self) -> str:
        return f"{self.seed}:{self.index} ({self.listener}, {len(self.frames)} frames, {self.ending.name})"

    @property
    def is_whole(self) -> bool:
        """Whether the broker reads each frame as it was sent."""
        return all(frame.is_whole for frame in self.frames if isinstance(frame, Frame))

    @property
    def is_served(self) -> bool:
        """Whether the broker reads frames; it reads none of a client without TLS on a listener with TLS."""
        return self.is_encrypted or self.listener != "SASL_SSL"

    def data(self) -> bytes:
        """Return all frames; the final message of SCRAM has another nonce than the server's."""
        return b"".join(frame.data if isinstance(frame, Frame) else frame.data(b"") for frame in self.frames)


def draw_conversation(seed: int, index: int) -> Conversation:
    """Return the conversation of a seed at an index."""
    random = Random(f"unauthenticated:{seed}:{index}")
    drawer = _Drawer(random, seed, index)
    random.choice(_PATTERNS)(drawer)
    has_tls = random.random() < TLS_SHARE
    is_encrypted = has_tls and random.random() < 0.8
    return Conversation(
        seed,
        index,
        "SASL_SSL" if has_tls else "SASL_PLAINTEXT",
        is_encrypted,
        drawer.frames,
        random.random() < PIPELINED_SHARE,
        drawer.is_bare,
        random.choice((Ending.READ, Ending.READ, Ending.READ, Ending.LEAVE, Ending.RESET, Ending.STAY)),
    )


class _Drawer:
    """Draws the frames of one conversation."""

    def __init__(self, random: Random, seed: int, index: int) -> None:
        self.random = random
        self.frames: list[Frame | ScramFinal] = []
        self.is_bare = False
        self._seed = seed
        self._index = index

    def request(self, key: ApiKey, version: int, message: RequestMessage) -> None:
        """Add a request, which may be changed."""
        data = request_frame(APIS[key], version, len(self.frames), message)
        changes: tuple[str, ...] = ()
        is_whole = True
        if self.random.random() < MUTATED_SHARE:
            body = self.random.choice(_SAFE_MUTATIONS)(self.random, data[SIZE.size :])
            data, changes = SIZE.pack(len(body)) + body, ("changed",)
        if self.random.random() < WRONG_SIZE_SHARE:
            size = self.random.choice(WRONG_SIZES)
            is_whole = size == len(data) - SIZE.size
            data, changes = SIZE.pack(size) + data[SIZE.size :], (*changes, f"size {size}")
        self.frames.append(Frame(self._seed, self._index, APIS[key], version, changes, data, is_whole))

    def any_request(self) -> None:
        """Add a request of any API, perhaps a changed one."""
        self.frames.append(draw_frame(self._seed, self.random.randrange(2**31), World()))

    def versions(self) -> None:
        """Add an ApiVersions."""
        self.request(ApiKey.API_VERSIONS, self.random.randint(0, 4), ApiVersionsRequest(client_software_name="fuzz"))

    def handshake(self, mechanism: str, version: int) -> None:
        """Add a SaslHandshake."""
        self.is_bare |= version == 0
        self.request(ApiKey.SASL_HANDSHAKE, version, SaslHandshakeRequest(mechanism=mechanism))

    def token(self, token: bytes, *, is_bare: bool) -> None:
        """Add a token, as a frame of its own or in a SaslAuthenticate."""
        if is_bare:
            data = _token_frame(token, 0, is_bare=True)
            self.frames.append(Frame(self._seed, self._index, _SASL, 0, ("bare",), data, is_whole=True))
        else:
            version = self.random.randint(0, _SASL.versions.last)
            self.request(ApiKey.SASL_AUTHENTICATE, version, SaslAuthenticateRequest(auth_bytes=token))

    def raw(self, data: bytes) -> None:
        """Add bytes without the size of a frame."""
        self.frames.append(Frame(self._seed, self._index, _SASL, 0, ("raw",), data, is_whole=False))


_SASL = APIS[ApiKey.SASL_AUTHENTICATE]


def _token_frame(token: bytes, correlation_id: int, *, is_bare: bool) -> bytes:
    if is_bare:
        return SIZE.pack(len(token)) + token
    return request_frame(_SASL, 1, correlation_id, SaslAuthenticateRequest(auth_bytes=token))


# -- patterns


def _authenticate(drawer: _Drawer) -> None:
    """Choose a mechanism, and send its tokens."""
    random = drawer.random
    if random.random() < 0.5:
        drawer.versions()
    mechanism = random.choice(MECHANISMS)
    is_bare = random.random() < 0.4
    drawer.handshake(mechanism, 0 if is_bare else 1)
    # Seldom that of another mechanism.
    named = mechanism if random.random() < 0.9 else random.choice(MECHANISMS)
    drawer.token(_TOKENS[named](random), is_bare=is_bare)
    if mechanism in SCRAM:
        drawer.frames.append(ScramFinal(_proof(random), len(drawer.frames), is_bare))
    elif mechanism == "OAUTHBEARER":
        # The acknowledgement of a refusal.
        drawer.token(b"\1", is_bare=is_bare)
    if random.random() < 0.3:
        drawer.token(_TOKENS[random.choice(MECHANISMS)](random), is_bare=is_bare)
    if random.random() < 0.3:
        drawer.any_request()


def _choose_wrongly(drawer: _Drawer) -> None:
    drawer.handshake(drawer.random.choice(OTHER_MECHANISMS), drawer.random.randint(0, 1))
    drawer.token(b"token", is_bare=drawer.random.random() < 0.5)


def _ask_at_once(drawer: _Drawer) -> None:
    """Send requests of other APIs before the handshake, and after it."""
    random = drawer.random
    if random.random() < 0.3:
        drawer.versions()
    if random.random() < 0.6:
        drawer.handshake(random.choice(MECHANISMS), random.randint(0, 1))
    for _ in range(random.randint(1, 3)):
        drawer.any_request()


def _repeat(drawer: _Drawer) -> None:
    """Send what may be sent once, several times."""
    random = drawer.random
    for _ in range(random.randint(2, 5)):
        random.choice((drawer.versions, lambda: drawer.handshake(random.choice(MECHANISMS), 1)))()


def _send_bytes(drawer: _Drawer) -> None:
    """Send bytes that are no frame, or only the beginning of one."""
    random = drawer.random
    beginning = SIZE.pack(random.choice((10, 1000, FRAME_BYTES_MAX))) + random.randbytes(random.choice((0, 3, 9)))
    http = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    client_hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    drawer.raw(random.choice((b"", b"\0", http, client_hello, beginning, random.randbytes(random.randint(1, 3000)))))


def _fill_the_limit(drawer: _Drawer) -> None:
    """Send a token as large as a frame may be."""
    drawer.handshake(drawer.random.choice(MECHANISMS), 0)
    token = drawer.random.choice((b"\0", b"a", b"\xff")) * FRAME_BYTES_MAX
    drawer.token(token, is_bare=True)


_PATTERNS: tuple[Callable[[_Drawer], None], ...] = (
    *(_authenticate,) * 12,
    *(_ask_at_once,) * 5,
    *(_choose_wrongly,) * 2,
    *(_send_bytes,) * 2,
    _repeat,
    _fill_the_limit,
)


# -- tokens


def _often(random: Random, usual: Any, *others: Any) -> Any:
    """Return the usual value, seldom one of the others."""
    return usual if random.random() < USUAL_SHARE else random.choice(others)


def _plain_token(random: Random) -> bytes:
    user = random.choice(USERS).encode()
    passwords = (b"", PASSWORD.encode()[:-1], PASSWORD.encode() + b"\0", b"\xff\xfe", b"x" * 100_000)
    parts = (_often(random, b"", user, b"other"), user, _often(random, b"wrong", *passwords))
    others = (b"\0".join((*parts, b"more")), user, b"", b"\0\0", random.randbytes(50))
    return bytes(_often(random, b"\0".join(parts), *others))


def _scram_token(random: Random) -> bytes:
    user = random.choice(USERS).encode()
    header = _often(random, b"n,,", b"y,,", b"p=tls-unique,,", b"n,a=other,", b"n,a=" + user + b",", b"")
    nonce = _often(random, NONCE, b"", b"a" * 50_000, b"\xff")
    extensions = (b",tokenauth=true", b",a=b,a=b", b",x=" + b"y" * 50_000, b",a=b" * 10_000, b",")
    first = header + b"n=" + user + b",r=" + nonce + _often(random, b"", *extensions)
    final = b"c=biws,r=" + nonce + b",p=" + _proof(random)
    return bytes(_often(random, first, final, random.randbytes(50), b"n,,"))


def _proof(random: Random) -> bytes:
    size = _often(random, random.choice((32, 64)), 0, 31, 1000)
    return b64encode(random.randbytes(size)) + bytes(_often(random, b"", b"=", b"\0", b"," * 1000))


def _oauth_token(random: Random) -> bytes:
    deep = b"[" * 100_000
    # Each is expired, or has no time or no subject.
    claims: tuple[object, ...] = (
        *({"sub": USER, "exp": "x"}, {"sub": USER}, {"exp": 1}, [], None, {"exp": -1.5e300}, {"sub": 1, "exp": 1}),
        *({"sub": USER, "iat": 1, "exp": 1}, {"sub": USER * 1000, "exp": 1}, dict.fromkeys(map(str, range(5000)), 1)),
    )
    whole = json.dumps(_often(random, {"sub": USER, "exp": 1}, *claims)).encode()
    payload = _often(random, whole, deep, b'{"exp":' + b"9" * 5000 + b"}", b"\xff")
    algorithms = (b'{"alg":"RS256","kid":"k"}', b'{"alg":"RS256"}', b'{"alg":"HS256"}', b"{}", deep, b'{"alg":null}')
    algorithm = _often(random, b'{"alg":"none"}', *algorithms)
    token = b".".join((_base64(algorithm), _base64(payload), _often(random, b"", _base64(random.randbytes(256)))))
    token = _often(random, token, token.replace(b".", b""), b"." * 50_000, b"\xff")
    header = _often(random, b"n,,", b"n,a=" + USER.encode() + b",", b"y,,", b"")
    extensions = _often(random, b"", b"a=b\1", b"auth=x\1", b"a=b\1" * 20_000)
    return bytes(
        header
        + b"\1auth="
        + _often(random, b"Bearer ", b"bearer ", b"", b"Basic ")
        + token
        + b"\1"
        + extensions
        + b"\1"
    )


def _base64(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


_TOKENS: Mapping[str, Callable[[Random], bytes]] = {
    "PLAIN": _plain_token,
    **dict.fromkeys(SCRAM, _scram_token),
    "OAUTHBEARER": _oauth_token,
}

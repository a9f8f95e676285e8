"""The frames of a run: each is drawn from the seed and its index alone.

Most are requests that a client could send. The others are changed in one to three ways, see MUTATIONS. A frame whose
size is wrong, or that is cut, changes how the broker reads everything after it on the connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from struct import Struct

from fauxka.broker.handlers import HANDLERS
from fauxka.protocol.api_keys import APIS, Api, ApiKey
from fauxka.protocol.apis.api import Release
from fauxka.protocol.primitives import Writer

from .drawn_requests import RequestDrawer, World

# Elements of a list that is longer than usual, unless an option says otherwise.
LONG_LIST_ELEMENTS = 40
MUTATED_SHARE = 0.4
MUTATIONS_MAX = 3

SIZE = Struct(">i")
HEADER = Struct(">hhi")
CLIENT_IDS = (b"\xff\xff", b"\x00\x00", b"\x00\x04fuzz", b"\x00\x03\xff\xfe\xfd")
# A length, a count or a varint: null, negative, the largest, endless, not UTF-8.
HOSTILE = (
    *(b"\xff", b"\x80", b"\x00", b"\x01", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\xff\xff\xff\xff"),
    *(
        b"\xff\xff\xff\xff\x0f",
        b"\xff\xff\xff\xff\x07",
        b"\xff" * 11,
        b"\x00\x00\x00\x00",
        b"\x7f\xff",
        b"\xed\xa0\x80",
    ),
)
# Instead of the 0 at the end of a flexible structure: unknown fields, a known one, a field twice, and wrong counts.
TAGGED_FIELDS = (
    *(
        b"\x01\xe8\x07\x03abc",
        b"\x02\x00\x01x\x01\x00",
        b"\x02\x05\x00\x05\x00",
        b"\x01\x00\x7f",
        b"\xff\xff\xff\xff\x0f",
    ),
    b"\x32" + b"".join(bytes((100, 0)) for _ in range(50)),
)
WRONG_SIZES = (-1, 0, 1, 3, 7, -(2**31), 2**31 - 1, 100 * 1024 * 1024, 100 * 1024 * 1024 + 1)


@dataclass(frozen=True, slots=True)
class Frame:
    """The bytes to send for a request, its size included.

    is_whole: whether size and content fit together, so that the broker reads the next frame as it was sent.
    """

    seed: int
    index: int
    api: Api
    version: int
    mutations: tuple[str, ...]
    data: bytes
    is_whole: bool

    def __str__(self) -> str:
        changes = f", {', '.join(self.mutations)}" if self.mutations else ""
        return f"{self.seed}:{self.index} ({self.api.name} {self.version}, {len(self.data)} bytes{changes})"

    @property
    def correlation_id(self) -> int | None:
        """The correlation id in the bytes, which a mutation may have changed; None if they end before it."""
        start = SIZE.size + HEADER.size - 4
        return SIZE.unpack_from(self.data, start)[0] if len(self.data) >= start + 4 else None


def draw_frame(seed: int, index: int, world: World, long_list_elements: int = LONG_LIST_ELEMENTS) -> Frame:
    """Return the frame of a seed at an index."""
    random = Random(f"{seed}:{index}")
    api = random.choice(_CHOICES)
    version = random.choice(api.versions.advertised_in(RELEASE))
    if random.random() < 0.01:
        version = random.choice((-1, api.versions.last + 1, 32767))
    body = _content(random, api, version, index, RequestDrawer(random, world, long_list_elements))
    applied: list[str] = []
    is_whole, size = True, None
    if random.random() < MUTATED_SHARE:
        for _ in range(random.randint(1, MUTATIONS_MAX)):
            name = random.choice(_MUTATION_NAMES)
            applied.append(name)
            body = MUTATIONS[name](random, body)
        if random.random() < 0.1:
            size = random.choice((*WRONG_SIZES, len(body) - 1, len(body) + 1))
            is_whole = size == len(body)
            applied.append(f"size {size}")
    data = SIZE.pack(len(body) if size is None else size) + body
    return Frame(seed, index, api, version, tuple(applied), data, is_whole)


def _content(random: Random, api: Api, version: int, index: int, drawer: RequestDrawer) -> bytes:
    """Return header and body of a valid request; its correlation id is the index."""
    is_flexible = version >= api.versions.flexible_since
    header = HEADER.pack(api.key, version, index) + random.choice(
        CLIENT_IDS[:-1] if random.random() < 0.99 else CLIENT_IDS
    )
    served = min(max(version, api.versions.in_release(RELEASE)[0]), api.versions.last)
    return header + (b"\0" if is_flexible else b"") + drawer.body(api, served)


def _flip_bits(random: Random, body: bytes) -> bytes:
    changed = bytearray(body)
    for _ in range(random.choice((1, 1, 2, 8)) if body else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(random: Random, body: bytes) -> bytes:
    return body[: random.randrange(len(body) + 1)]


def _change_length(random: Random, body: bytes) -> bytes:
    position = random.randrange(len(body) + 1)
    hostile = random.choice(HOSTILE)
    return body[:position] + hostile + body[position + random.choice((0, 1, len(hostile))) :]


def _repeat_part(random: Random, body: bytes) -> bytes:
    start = random.randrange(len(body) + 1)
    part = body[start : start + random.choice((1, 2, 4, 16, 100))]
    return body[:start] + part * random.choice((2, 2, 3, 10)) + body[start + len(part) :]


def _remove_part(random: Random, body: bytes) -> bytes:
    start = random.randrange(len(body) + 1)
    return body[:start] + body[start + random.choice((1, 2, 4, 16)) :]


def _splice(random: Random, body: bytes) -> bytes:
    """Continue with the end of another request, which may belong to another API."""
    api = random.choice(_CHOICES)
    other = Writer()
    drawer = RequestDrawer(random, World(), LONG_LIST_ELEMENTS)
    other.buffer += drawer.body(api, random.choice(api.versions.in_release(RELEASE)))
    tail = other.getvalue()
    return body[: random.randrange(len(body) + 1)] + tail[random.randrange(len(tail) + 1) :]


def _append_bytes(random: Random, body: bytes) -> bytes:
    return body + random.choice((b"\0", b"\xff\xff", random.randbytes(20), bytes(600)))


def _add_tagged_fields(random: Random, body: bytes) -> bytes:
    """Replace one of the zero bytes, most often the last one, which ends a flexible request."""
    position = len(body) - 1 if random.random() < 0.7 else body.rfind(b"\0", 0, random.randrange(len(body) + 1))
    if position < 0:
        return body
    return body[:position] + random.choice(TAGGED_FIELDS) + body[position + 1 :]


def _change_api(random: Random, body: bytes) -> bytes:
    """Send the same body to another API or version."""
    api = random.choice(_CHOICES)
    key = random.choice((api.key, api.key, 999, -1, random.randrange(95)))
    return HEADER.pack(key, random.randint(-1, 19), random.randrange(2**31))[: len(body)] + body[HEADER.size :]


MUTATIONS: Mapping[str, Callable[[Random, bytes], bytes]] = {
    "bits flipped": _flip_bits,
    "cut": _cut,
    "length changed": _change_length,
    "part repeated": _repeat_part,
    "part removed": _remove_part,
    "spliced": _splice,
    "bytes appended": _append_bytes,
    "tagged fields": _add_tagged_fields,
    "other API": _change_api,
}
_MUTATION_NAMES = tuple(MUTATIONS)
# The effect of these depends most on earlier requests.
_OFTEN = (
    *(ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.JOIN_GROUP, ApiKey.CONSUMER_GROUP_HEARTBEAT),
    *(ApiKey.SHARE_FETCH, ApiKey.INIT_PRODUCER_ID, ApiKey.END_TXN),
)
_SERVED = tuple(APIS[key] for key in HANDLERS)
# The broker closes the connection for the others.
# The release of the broker, whose versions are drawn.
RELEASE: Release = (4, 4)
_CHOICES = (*_SERVED * 10, *APIS.values(), *(APIS[key] for key in _OFTEN for _ in range(30)))

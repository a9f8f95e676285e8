"""Messages of the mechanisms that are cut off, changed or too long."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace

from ..connection_cases import ConnectionCase, Step
from ..oauth_cases.claims import VALID
from ..oauth_tokens import FirstMessage
from ..sasl_client import CLIENT_NONCE, SaslClient, ScramClient, plain
from .steps import OAUTHBEARER, SCRAM_512, authenticate, handshake, known

LISTENER = "SASL_SSL"
# sasl.server.max.receive.size is 524,288.
LONG = 520_000
# How much of a message with a token is cut off, at its start and its end.
CUT_MAX = 14
Change = Callable[[str], str]


def cases() -> list[ConnectionCase]:
    """Return all of them."""
    steps = {**_plain(), **_scram_first(), **_scram_final(), **_oauth()}
    return [ConnectionCase(name, LISTENER, known(step)) for name, step in steps.items()]


def _in_exchange(mechanism: str, token: bytes, name: str | None = None) -> Step:
    def run(client: SaslClient) -> None:
        client.handshake(mechanism)
        client.authenticate(token, name=name)

    return run


def _plain() -> dict[str, Step]:
    token = plain()
    tokens = {
        **{f"PLAIN message cut off after {length}": token[:length] for length in range(len(token))},
        **{f"PLAIN message without its first {length}": token[length:] for length in range(1, len(token))},
        "PLAIN message with a line feed behind": token + b"\n",
        "PLAIN message with UTF-16": token.decode().encode("utf-16-be"),
        "PLAIN message with NULs alone": b"\0\0\0",
        "PLAIN message with surrogates in UTF-8": b"\0alice\xed\xa0\x80\0secret",
        "PLAIN message with overlong UTF-8": b"\0al\xc1\xa9ce\0secret",
        "PLAIN message with overlong NULs": b"\xc0\x80alice\xc0\x80secret",
        "PLAIN message with a byte order mark": b"\xef\xbb\xbf" + token,
        "PLAIN message, long authorization id": plain(authorization_id="a" * LONG),
        "PLAIN message, long user": plain(user="a" * LONG),
        "PLAIN message, long password": plain(password="a" * LONG),
    }
    return {name: _in_exchange("PLAIN", token) for name, token in tokens.items()}


def _scram_first() -> dict[str, Step]:
    first = SCRAM_512.first.decode()
    texts = {
        **{f"cut off after {length}": first[:length] for length in range(len(first))},
        **{f"without character {index}": first[:index] + first[index + 1 :] for index in range(len(first) - 12)},
        **{f"header {header!r}": header + SCRAM_512.bare for header in _HEADERS},
        "user twice": f"n,,n=alice,n=bob,r={CLIENT_NONCE}",
        "nonce twice": f"n,,n=alice,r={CLIENT_NONCE},r={CLIENT_NONCE}",
        "nonce before the user": f"n,,r={CLIENT_NONCE},n=alice",
        "nonce with an equals sign": f"n,,n=alice,r=a=b{CLIENT_NONCE}",
        "nonce that is not ASCII": f"n,,n=alice,r=\u00fc{CLIENT_NONCE}",
        "nonce of one character": "n,,n=alice,r=x",
        "nonce of 10000 characters": f"n,,n=alice,r={'x' * 10_000}",
        "long nonce": f"n,,n=alice,r={'x' * LONG}",
        "comma behind": f"{first},",
        "line feed behind": f"{first}\n",
        "NUL behind": f"{first}\0",
        "space before": f" {first}",
        "extension that is not ASCII": f"{first},a=\u00fc",
        "extension of two letters": f"{first},ab=c",
        "extension with a digit": f"{first},a1=c",
        "empty extension": f"{first},a=",
        "extension with equals signs": f"{first},a=b=c==",
        "reserved extension": f"n,,m=x,n=alice,r={CLIENT_NONCE}",
        "reserved extension behind": f"{first},m=x",
        "long extension": f"{first},a={'x' * LONG}",
    }
    return {
        f"SCRAM first message, {name}": _scram(first_message=text, change=lambda final: final)
        for name, text in texts.items()
    }


_HEADERS = (
    "y,,",
    "p=tls-unique,,",
    "p=tls-exporter,,",
    "p=tls-server-end-point,,",
    "p=,,",
    "x,,",
    "n,",
    "n",
    "n,,,",
    ",,",
    "n ,,",
    "nn,,",
    "n,a=,",
    "n,a=alice",
    "n,b=alice,",
    "n,a==,",
    "n,a=al=2cice,",
    "N,,",
)


def _scram_final() -> dict[str, Step]:
    changes: dict[str, Change] = {
        **{f"cut off after {length}": _cutting(length) for length in (0, 1, 2, 6, 7, 9, 12, 30)},
        **{f"without its last {length}": _cutting(-length) for length in (1, 2, 3, 4, 5)},
        **{
            f"channel binding of {header!r}": _with_binding(b64encode(header.encode()).decode())
            for header in ("y,,", "n,a=alice,", "n,a=bob,", "p=tls-unique,,", "n,", "N,,", "n,,\0")
        },
        **{f"channel binding {text!r}": _with_binding(text) for text in ("biws=", "biw", "b!ws", "", "biws ", "BIWS")},
        "nonce in capitals": lambda final: _changing(final, 1, str.upper),
        "nonce with one character more": lambda final: _changing(final, 1, lambda part: part + "x"),
        "nonce with one character less": lambda final: _changing(final, 1, lambda part: part[:-1]),
        "nonce of the client alone": lambda final: _changing(final, 1, lambda _: f"r={CLIENT_NONCE}"),
        "proof in capitals": lambda final: _changing(final, -1, lambda part: "p=" + part[2:].upper()),
        "proof without padding": lambda final: final.rstrip("="),
        "proof with more padding": lambda final: f"{final}=",
        "proof twice": lambda final: f"{final},{final.rpartition(',')[2]}",
        "proof of zeros": lambda final: _changing(final, -1, lambda _: "p=" + b64encode(bytes(64)).decode()),
        "proof of 63 bytes": lambda final: _changing(final, -1, lambda _: "p=" + b64encode(bytes(63)).decode()),
        "proof of 65 bytes": lambda final: _changing(final, -1, lambda _: "p=" + b64encode(bytes(65)).decode()),
        "empty proof": lambda final: _changing(final, -1, lambda _: "p="),
        "extension before the proof": lambda final: final.replace(",p=", ",a=b,p="),
        "two extensions before the proof": lambda final: final.replace(",p=", ",a=b,c=d,p="),
        "extension that is not ASCII": lambda final: final.replace(",p=", ",a=\u00fc,p="),
        "extension behind the proof": lambda final: f"{final},a=b",
        "comma behind": lambda final: f"{final},",
        "line feed behind": lambda final: f"{final}\n",
        "NUL behind": lambda final: f"{final}\0",
        "nonce before the channel binding": lambda final: ",".join([final.split(",")[1], final.split(",")[0]]),
        "iterations before the proof": lambda final: final.replace(",p=", ",i=1,p="),
        "error in its place": lambda _: "e=other-error",
        "long": lambda final: final.replace(",p=", f",a={'x' * LONG},p="),
    }
    return {
        f"SCRAM final message, {name}": _scram(first_message=None, change=change) for name, change in changes.items()
    }


def _cutting(length: int) -> Change:
    return lambda final: final[:length]


def _with_binding(text: str) -> Change:
    """Return what replaces the channel binding, which the proof of a client would have signed."""
    return lambda final: _changing(final, 0, lambda _: f"c={text}")


def _changing(final: str, index: int, change: Change) -> str:
    parts = final.split(",")
    parts[index] = change(parts[index])
    return ",".join(parts)


def _scram(first_message: str | None, change: Change) -> Step:
    """Return the step that sends a first message, and a changed final message if the first one has a response."""

    def run(client: SaslClient) -> None:
        scram: ScramClient = replace(SCRAM_512)
        client.handshake(scram.mechanism)
        client.authenticate(scram.first if first_message is None else first_message.encode())
        if client.token:
            final = change(scram.final(client.token).decode()).encode()
            client.authenticate(final, name="the changed message")

    return run


def _oauth() -> dict[str, Step]:
    def cut(start: int, end: int) -> Step:
        def run(client: SaslClient) -> None:
            first = FirstMessage(VALID)
            data, shown = first.data(), str(first)
            client.handshake(OAUTHBEARER)
            client.authenticate(
                data[start : len(data) - end], name=shown[start : len(shown) - end].replace("\x01", "\\1")
            )

        return run

    return {
        **{f"OAUTHBEARER message without its first {length}": cut(length, 0) for length in range(1, CUT_MAX)},
        **{f"OAUTHBEARER message without its last {length}": cut(0, length) for length in range(1, CUT_MAX)},
        "OAUTHBEARER message of one separator": _in_exchange(OAUTHBEARER, b"\x01"),
        "OAUTHBEARER message of separators": _in_exchange(OAUTHBEARER, b"\x01" * 1000),
        "OAUTHBEARER message, long": _in_exchange(OAUTHBEARER, b"n,,\x01auth=Bearer " + b"x" * LONG + b"\x01\x01"),
        "OAUTHBEARER message, long extension": _in_exchange(
            OAUTHBEARER, b"n,,\x01auth=Bearer x.y.\x01a=" + b"x" * LONG + b"\x01\x01"
        ),
        "SCRAM message to PLAIN": _in_exchange("PLAIN", SCRAM_512.first),
        "PLAIN message to SCRAM": _in_exchange("SCRAM-SHA-512", plain()),
        "PLAIN message to OAUTHBEARER": _in_exchange(OAUTHBEARER, plain()),
        "frame beyond the size that is allowed": _send_oversized,
    }


def _send_oversized(client: SaslClient) -> None:
    handshake()(client)
    authenticate(b"\0alice\0" + b"x" * 530_000)(client)

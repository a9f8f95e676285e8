"""SASL: python -m tests.golden.regenerate sasl. A case is one connection; see sasl_client for its steps."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TextIO

from . import raw_apis
from .case_recorder import in_order
from .connection_cases import ConnectionCase, Step, connector, metadata, wait, write_lines
from .sasl_brokers import SESSION_MS
from .sasl_client import Addresses, SaslClient, ScramClient, plain

SASL, SESSIONS, PLAINTEXT = "SASL_PLAINTEXT", "SESSIONS", "PLAINTEXT"
# Longer than KafkaChannel.MIN_REAUTH_INTERVAL_ONE_SECOND_NANOS.
REAUTH_PAUSE_SECONDS = 1.2
# A session is over by then.
SESSION_SECONDS = SESSION_MS / 1000 + 0.5
# sasl.server.max.receive.size
FRAME_BYTES_MAX = 524_288
OVERSIZED = struct.pack(">i", FRAME_BYTES_MAX + 1) + b"\0" * 100

SCRAM = ScramClient()
SCRAM_512 = replace(SCRAM, mechanism="SCRAM-SHA-512")


def capture(addresses: Addresses, output: TextIO) -> None:
    """Run every case against a broker of sasl_brokers, and write a line of each to output."""
    write_lines(_cases(), connector(addresses), output)


def _cases() -> Iterator[ConnectionCase]:
    groups = {SASL: (_before, _after, _plain, _scram, _scram_messages, _bare), SESSIONS: (_sessions, _again)}
    for listener, makers in {**groups, PLAINTEXT: (_without_sasl,)}.items():
        for make in makers:
            for name, step in make().items():
                yield ConnectionCase(name, listener, step)


def _versions(version: int = 3, **fields: str) -> Step:
    return lambda client: client.versions(version, **fields)


def _handshake(mechanism: str = "PLAIN", version: int = 1) -> Step:
    return lambda client: client.handshake(mechanism, version)


def _authenticate(token: bytes, version: int = 2) -> Step:
    return lambda client: client.authenticate(token, version)


def _bare_token(token: bytes) -> Step:
    return lambda client: client.bare_token(token)


def _produce(client: SaslClient) -> None:
    """Send a Produce with acks=-1 and without a topic."""
    header = client.connection.header(0, 9, is_flexible=True).getvalue()
    client.frame("Produce v9", header + b"\0\xff\xff\0\0\0\0\1\0")


def _frame(name: str, frame: bytes) -> Step:
    return lambda client: client.frame(name, frame)


def _header(name: str, api_key: int, version: int, body: bytes = b"") -> Step:
    return _frame(name, struct.pack(">hhih", api_key, version, 1, -1) + body)


def _raw(name: str, data: bytes) -> Step:
    return lambda client: client.raw(name, data)


def _log_in(token: bytes | None = None) -> Step:
    return in_order(_handshake(), _authenticate(plain() if token is None else token))


def _log_in_by(scram: ScramClient) -> Step:
    return in_order(lambda client: client.log_in_by_scram(scram), metadata)


def _before() -> dict[str, Step]:
    """Return the cases of what is sent before the client has authenticated."""
    return {
        **{f"ApiVersions v{version}": in_order(_versions(version), _log_in(), metadata) for version in range(5)},
        "ApiVersions of an unsupported version": in_order(_versions(99), _versions(0), _log_in(), metadata),
        "ApiVersions of an unsupported version twice": in_order(_versions(99), _versions(99), _versions(3)),
        "ApiVersions of an invalid client": in_order(_versions(3, client_software_name="a b"), _log_in()),
        "ApiVersions twice": in_order(_versions(), _versions()),
        "ApiVersions after SaslHandshake": in_order(_handshake(), _versions()),
        "ApiVersions after SaslHandshake v0": in_order(_handshake(version=0), _versions()),
        "SaslHandshake v0": _handshake(version=0),
        "SaslHandshake v1": _handshake(),
        "SaslHandshake v2": _handshake(version=2),
        "SaslHandshake v-1": _handshake(version=-1),
        "SaslHandshake of an unknown mechanism": in_order(_handshake("UNKNOWN"), _handshake()),
        "SaslHandshake of an unknown mechanism, v0": _handshake("UNKNOWN", 0),
        "SaslHandshake of GSSAPI": _handshake("GSSAPI"),
        "SaslHandshake of OAUTHBEARER": _handshake("OAUTHBEARER"),
        "SaslHandshake in lower case": _handshake("plain"),
        "SaslHandshake without a mechanism": _handshake(""),
        "SaslHandshake twice": in_order(_handshake(), _handshake()),
        "SaslHandshake twice, by another mechanism": in_order(_handshake(), _handshake("SCRAM-SHA-256")),
        "SaslHandshake v0 twice": in_order(_handshake(version=0), _handshake(version=0)),
        "SaslHandshake cut off": _header("SaslHandshake v1 without a body", 17, 1),
        "SaslHandshake with a byte too many": _header("SaslHandshake v1 and a byte", 17, 1, b"\0\5PLAIN!"),
        "SaslAuthenticate first": _authenticate(plain()),
        "SaslAuthenticate after ApiVersions": in_order(_versions(), _authenticate(plain())),
        "Metadata first": metadata,
        "Metadata after ApiVersions": in_order(_versions(), metadata),
        "Metadata after SaslHandshake": in_order(_handshake(), metadata),
        "Metadata after SaslHandshake v0": in_order(_handshake(version=0), metadata),
        "Produce first": _produce,
        "Produce after SaslHandshake": in_order(_handshake(), _produce),
        "unknown API key first": _header("API key 999", 999, 0),
        "unknown API key after SaslHandshake": in_order(_handshake(), _header("API key 999", 999, 0)),
        "garbage first": _frame("garbage", b"GET / HTTP/1.1\r\n\r\n"),
        "garbage after SaslHandshake": in_order(_handshake(), _frame("garbage", b"\xff" * 50)),
        "two bytes first": _frame("two bytes", b"\0\x11"),
        "empty frame first": _frame("empty frame", b""),
        "empty frame after SaslHandshake": in_order(_handshake(), _frame("empty frame", b"")),
        "negative size first": _raw("size -1", struct.pack(">i", -1)),
        "oversized frame first": _raw("size 524289", OVERSIZED),
        "oversized frame after SaslHandshake": in_order(_handshake(), _raw("size 524289", OVERSIZED)),
        "TLS first": _raw("ClientHello", bytes.fromhex("16030100a5010000a10303") + b"\0" * 100),
    }


def _after() -> dict[str, Step]:
    """Return the cases of what is sent after it."""
    return {
        "Metadata after the authentication": in_order(_log_in(), metadata, metadata),
        "Metadata larger than a frame before the authentication": in_order(_log_in(), _send_large_frame),
        "ApiVersions after the authentication": in_order(_log_in(), _versions(), _versions(99), _versions(0)),
        "SaslHandshake after the authentication": in_order(_log_in(), _handshake(), _handshake("UNKNOWN"), metadata),
        "SaslHandshake v0 after the authentication": in_order(_log_in(), _handshake(version=0), metadata),
        "SaslHandshake after the authentication, later": in_order(
            _log_in(), _handshake(), wait(REAUTH_PAUSE_SECONDS), _handshake(), _authenticate(plain()), metadata
        ),
        "SaslAuthenticate after the authentication": in_order(
            _log_in(), *(_authenticate(plain(), version) for version in range(3)), metadata
        ),
        "unknown API key after the authentication": in_order(_log_in(), _header("API key 999", 999, 0)),
    }


def _send_large_frame(client: SaslClient) -> None:
    topics = [{"name": f"{number:0249}"} for number in range(2200)]
    frame = client.connection.request(raw_apis.METADATA, 9, {"topics": topics, "allow_auto_topic_creation": False})
    assert len(frame) > FRAME_BYTES_MAX
    client.connection.send_frame(frame)
    response = client.connection.parse(raw_apis.METADATA, 9, client.connection.receive_frame())
    client.steps.append({"sent": "Metadata v9 of 2200 topics", "answer": len(response.structs("topics"))})


def _plain() -> dict[str, Step]:
    tokens = {
        "right": plain(),
        "another user": plain("bob", "bobs-secret"),
        "wrong password": plain(password="wrong"),
        "password of another user": plain("bob"),
        "unknown user": plain("carol"),
        "user in upper case": plain("ALICE"),
        "empty user": plain(user=""),
        "empty password": plain(password=""),
        "empty user and password": plain("", ""),
        "one part": b"alice",
        "two parts": b"alice\0secret",
        "four parts": plain() + b"\0more",
        "four parts, the last one empty": plain() + b"\0",
        "two empty parts": b"\0",
        "authorization id of the user": plain(authorization_id="alice"),
        "authorization id of another user": plain(authorization_id="bob"),
        "authorization id and wrong password": plain(password="wrong", authorization_id="bob"),
        "password that is not UTF-8": b"\0alice\0secr\xff\xfet",
        "user that is not UTF-8": b"\0\xff\0secret",
        "empty token": b"",
        "long password": plain(password="x" * 100_000),
    }
    null = _header("SaslAuthenticate v1 of null", 36, 1, b"\xff\xff\xff\xff")
    return {
        **{f"PLAIN: {name}": in_order(_log_in(token), metadata) for name, token in tokens.items()},
        **{
            f"PLAIN, v{version}: {name}": in_order(_handshake(), _authenticate(tokens[name], version), metadata)
            for version in (0, 1)
            for name in ("right", "wrong password")
        },
        "PLAIN: token of null": in_order(_handshake(), null, metadata),
        "PLAIN: unsupported version": in_order(_handshake(), _header("SaslAuthenticate v3", 36, 3, b"\0\0"), metadata),
        "PLAIN: second try": in_order(_log_in(plain(password="wrong")), _authenticate(plain())),
        "PLAIN: SaslHandshake after a wrong password": in_order(_log_in(plain(password="wrong")), _handshake()),
        "PLAIN: message of SCRAM": in_order(_handshake(), _authenticate(SCRAM.first)),
    }


def _scram() -> dict[str, Step]:
    """Return the cases of SCRAM.

    Two different extensions are not among them: Kafka signs them in an order that differs from JVM to JVM.
    """
    clients = {
        "right": SCRAM,
        "SHA-512": SCRAM_512,
        "another user": replace(SCRAM, user="bob", password="bobs-secret"),
        "user with comma and equals sign": replace(SCRAM, user="a,b=c", password="commas"),
        "user that is not ASCII": replace(SCRAM, user="ü", password="umlaut"),
        "wrong password": replace(SCRAM, password="wrong"),
        "wrong password, SHA-512": replace(SCRAM_512, password="wrong"),
        "unknown user": replace(SCRAM, user="carol"),
        "empty user": replace(SCRAM, user=""),
        "user in upper case": replace(SCRAM, user="ALICE"),
        "extension": replace(SCRAM, extensions=",a=b"),
        "extension of several letters": replace(SCRAM, extensions=",abc=d"),
        "extension twice": replace(SCRAM, extensions=",a=b,a=b"),
        "tokenauth=true": replace(SCRAM, extensions=",tokenauth=true"),
        "tokenauth=false": replace(SCRAM, extensions=",tokenauth=false"),
        "authorization id of the user": replace(SCRAM, header="n,a=alice,"),
        "authorization id of another user": replace(SCRAM, header="n,a=bob,"),
        "authorization id of another user, wrong password": replace(SCRAM, header="n,a=bob,", password="wrong"),
        "empty authorization id": replace(SCRAM, header="n,a=,"),
        "channel binding that the client supports": replace(SCRAM, header="y,,"),
        "channel binding": replace(SCRAM, header="p=tls-unique,,"),
        "wrong nonce": replace(SCRAM, nonce="another-nonce"),
        "nonce of the client only": replace(SCRAM, nonce="nonce-of-the-client"),
        "another nonce of the client in the final message": replace(SCRAM, nonce="other-{server}"),
        "another channel binding in the final message": replace(SCRAM, channel_binding="y,,"),
        "channel binding of another header in the final message": replace(SCRAM, channel_binding="n,a=alice,"),
        "empty channel binding in the final message": replace(SCRAM, channel_binding=""),
        "authorization id of the first message only": replace(SCRAM, header="n,a=alice,", channel_binding="n,,"),
    }
    return {
        **{f"SCRAM: {name}": _log_in_by(client) for name, client in clients.items()},
        **{f"SCRAM, v{version}: right": _scram_of_version(version) for version in (0, 1)},
        "SCRAM: Metadata after the first message": in_order(
            _handshake(SCRAM.mechanism), _authenticate(SCRAM.first), metadata
        ),
        "SCRAM: SaslHandshake after the first message": in_order(
            _handshake(SCRAM.mechanism), _authenticate(SCRAM.first), _handshake(SCRAM.mechanism)
        ),
        "SCRAM: SaslAuthenticate after the final message": in_order(_log_in_by(SCRAM), _authenticate(SCRAM.first)),
    }


def _scram_of_version(version: int) -> Step:
    return lambda client: client.log_in_by_scram(SCRAM, version)


def _scram_messages() -> dict[str, Step]:
    firsts = {
        "empty": b"",
        "without a header": SCRAM.bare.encode(),
        "without a user": b"n,,r=nonce-of-the-client",
        "without a nonce": b"n,,n=alice",
        "with an empty nonce": b"n,,n=alice,r=",
        "with a user that has an equals sign": b"n,,n=al=00ice,r=nonce-of-the-client",
        "with m=": b"n,,m=x,n=alice,r=nonce-of-the-client",
        "with an extension without a value": b"n,,n=alice,r=nonce-of-the-client,a",
        "not UTF-8": b"n,,n=\xff,r=nonce-of-the-client",
        "with a space in the nonce": b"n,,n=alice,r=a nonce",
        "of PLAIN": plain(),
        "in capitals": b"N,,N=alice,R=nonce-of-the-client",
    }
    finals: dict[str, Callable[[bytes], bytes]] = {
        "empty": lambda _final: b"",
        "garbage": lambda _final: b"garbage",
        "without a proof": lambda final: final[: final.index(b",p=")],
        "with a proof that is not base64": lambda final: final[: final.index(b",p=")] + b",p=!!!!",
        "with a short proof": lambda final: final[: final.index(b",p=")] + b",p=AAAA",
        "with another channel binding": lambda final: final.replace(b"c=biws", b"c=eSws"),
        "not UTF-8": lambda final: b"\xff" + final,
        "with an extension": lambda final: final.replace(b",p=", b",a=b,p="),
        "like the first one": lambda _final: SCRAM.first,
    }
    return {
        **{
            f"SCRAM: first message {name}": in_order(_handshake(SCRAM.mechanism), _authenticate(token))
            for name, token in firsts.items()
        },
        **{f"SCRAM: final message {name}": _finish_with(change) for name, change in finals.items()},
    }


def _finish_with(change: Callable[[bytes], bytes]) -> Step:
    def run(client: SaslClient) -> None:
        client.handshake(SCRAM.mechanism)
        client.authenticate(SCRAM.first)
        client.authenticate(change(replace(SCRAM).final(client.token)))

    return run


def _bare() -> dict[str, Step]:
    """Return the cases of tokens that are frames, after SaslHandshake v0."""
    tokens = {
        "right": plain(),
        "wrong password": plain(password="wrong"),
        "two parts": b"alice\0secret",
        "empty": b"",
    }
    return {
        **{
            f"bare token: {name}": in_order(_handshake(version=0), _bare_token(token), metadata)
            for name, token in tokens.items()
        },
        "bare token: SCRAM": _log_in_by_bare_tokens(SCRAM),
        "bare token: SCRAM, wrong password": _log_in_by_bare_tokens(replace(SCRAM, password="wrong")),
        "bare token: SaslAuthenticate": in_order(_handshake(version=0), _authenticate(plain())),
        "bare token: after SaslHandshake v1": in_order(_handshake(), _bare_token(plain())),
        "bare token: after ApiVersions and SaslHandshake": in_order(
            _versions(), _handshake(version=0), _bare_token(plain()), metadata
        ),
    }


def _log_in_by_bare_tokens(scram: ScramClient) -> Step:
    def run(client: SaslClient) -> None:
        client.handshake(scram.mechanism, 0)
        client.bare_token(scram.first)
        client.bare_token(replace(scram).final(client.token))
        client.metadata()

    return run


def _sessions() -> dict[str, Step]:
    """Return the cases of sessions that end."""
    over = wait(SESSION_SECONDS)
    return {
        **{
            f"lifetime, v{version}": in_order(_handshake(), _authenticate(plain(), version), metadata)
            for version in range(3)
        },
        "lifetime, SCRAM": _log_in_by(SCRAM),
        "lifetime of a mechanism": in_order(_log_in_by(SCRAM_512), over, metadata),
        "lifetime after a bare token": in_order(_handshake(version=0), _bare_token(plain()), metadata, over, metadata),
        "request after the lifetime": in_order(_log_in(), metadata, over, metadata),
        "ApiVersions after the lifetime": in_order(_log_in(), over, _versions()),
        "SaslAuthenticate after the lifetime": in_order(_log_in(), over, _authenticate(plain())),
        "nothing after the lifetime": in_order(_log_in(), over),
    }


def _again() -> dict[str, Step]:
    """Return the cases of further authentications."""
    again = in_order(_handshake(), _authenticate(plain()), metadata)
    pause, over = wait(REAUTH_PAUSE_SECONDS), wait(SESSION_SECONDS)
    bob = replace(SCRAM, user="bob", password="bobs-secret")
    return {
        "again: at once": in_order(_log_in(), again),
        "again: twice within a second": in_order(_log_in(), again, _handshake(), metadata),
        "again: twice after a second": in_order(_log_in(), again, pause, again),
        "again: after the lifetime": in_order(_log_in(), over, again),
        "again: a longer session": in_order(_log_in(), pause, again, pause, metadata),
        "again: twice within a second, after the lifetime": in_order(_log_in(), over, again, _handshake(), metadata),
        "again: another user": in_order(_log_in(), _log_in(plain("bob", "bobs-secret")), metadata),
        "again: wrong password": in_order(_log_in(), _log_in(plain(password="wrong")), metadata),
        "again: another mechanism": in_order(_log_in(), _log_in_by(SCRAM)),
        "again: PLAIN after SCRAM": in_order(_log_in_by(SCRAM), again),
        "again: unknown mechanism": in_order(_log_in(), _handshake("UNKNOWN"), metadata),
        "again: SaslHandshake v0": in_order(_log_in(), _handshake(version=0), _bare_token(plain()), metadata),
        "again: SaslHandshake v0 and SaslAuthenticate": in_order(
            _log_in(), _handshake(version=0), _authenticate(plain()), metadata
        ),
        "again: SaslHandshake v2": in_order(_log_in(), _handshake(version=2), metadata),
        "again: SCRAM": in_order(_log_in_by(SCRAM), _log_in_by(SCRAM)),
        "again: SCRAM, another user": in_order(_log_in_by(SCRAM), _log_in_by(bob)),
        "again: SCRAM, wrong password": in_order(_log_in_by(SCRAM), _log_in_by(replace(SCRAM, password="wrong"))),
        "again: SCRAM, unknown user": in_order(_log_in_by(SCRAM), _log_in_by(replace(SCRAM, user="carol"))),
        "again: a mechanism without a lifetime": in_order(_log_in_by(SCRAM_512), _log_in_by(SCRAM_512)),
        "again: Metadata before the token": in_order(_log_in(), _handshake(), metadata, _authenticate(plain())),
        "again: ApiVersions before the token": in_order(_log_in(), _handshake(), _versions()),
        "again: ApiVersions first": in_order(_log_in(), _versions(), again),
        "again: SaslHandshake twice": in_order(_log_in(), _handshake(), _handshake()),
        "again: oversized frame before the token": in_order(_log_in(), _handshake(), _raw("size 524289", OVERSIZED)),
    }


def _without_sasl() -> dict[str, Step]:
    return {
        "no SASL: SaslHandshake": in_order(_handshake(), _handshake("UNKNOWN", 0), metadata),
        "no SASL: SaslHandshake v2": _handshake(version=2),
        "no SASL: SaslAuthenticate": in_order(*(_authenticate(plain(), version) for version in range(3)), metadata),
        "no SASL: both": in_order(_handshake(), _authenticate(plain()), metadata),
    }

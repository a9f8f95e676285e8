"""Signed tokens that a broker must not accept, and some that it must."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import replace

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ..case_recorder import Json
from ..connection_cases import ConnectionCase, Step
from ..oauth_cases.claims import RS256, SIGNED, SIGNED_CLAIMS
from ..oauth_tokens import FirstMessage, Jws, base64url, ec_key, rsa_jwk, rsa_key, signer_of
from ..sasl_client import SaslClient
from .steps import known, token_login

Claims = Mapping[str, Json]
LISTENER = "SIGNED"
_STATIC = '"iss":"https://issuer.example","aud":"kafka","iat":1,"exp":4000000000,"scope":"a"'


def cases() -> list[ConnectionCase]:
    """Return all of them."""
    jws = {**_algorithms(), **_claims(), **_payloads()}
    return [
        *(
            ConnectionCase(f"token: {name}", LISTENER, known(token_login(token, name="the token")))
            for name, token in jws.items()
        ),
        *(ConnectionCase(f"token: {name}", LISTENER, known(step)) for name, step in _forged().items()),
    ]


def _algorithms() -> dict[str, Jws]:
    unsigned: dict[str, Claims] = {
        f"algorithm {name!r}": {"alg": name, "kid": "first"} for name in ("None", "NONE", "nOnE", "none ", "", "null")
    }
    keys: dict[str, Json] = {
        "path": "../first",
        "trailing space": "first ",
        "NUL": "first\0",
        "list": ["first"],
        "object": {"kid": "first"},
        "empty": "",
        "20000 letters": "x" * 20_000,
    }
    foreign: dict[str, Claims] = {
        "its own key": {"alg": "RS256", "jwk": rsa_jwk("stolen")},
        "its own key and the id of another": {**RS256, "jwk": rsa_jwk("stolen", kid="first")},
        "the address of its key set": {**RS256, "jku": "http://127.0.0.1:9/keys"},
        "the address of its certificate": {**RS256, "x5u": "http://127.0.0.1:9/certificate"},
        "its own certificate": {**RS256, "x5c": ["AAAA"]},
    }
    own: dict[str, Claims] = {
        "zip": {**RS256, "zip": "DEF"},
        "type of JWE": {**RS256, "typ": "JWE"},
        "enc": {**RS256, "enc": "A128GCM"},
        "empty list of critical headers": {**RS256, "crit": []},
        "critical headers of null": {**RS256, "crit": None},
        "critical header of a text": {**RS256, "crit": "kid"},
        "critical header that is known": {**RS256, "crit": ["kid"]},
        "algorithm twice by case": {**RS256, "ALG": "none"},
    }
    return {
        **{f"unsigned, {name}": Jws(SIGNED_CLAIMS, header) for name, header in unsigned.items()},
        **{
            f"unsigned, {name}, with a signature": Jws(SIGNED_CLAIMS, header, signature="AAAA")
            for name, header in unsigned.items()
        },
        **{
            f"key id of {name}": Jws(SIGNED_CLAIMS, {"alg": "RS256", "kid": key}, "first") for name, key in keys.items()
        },
        **{f"signed by a foreign key, {name}": Jws(SIGNED_CLAIMS, head, "stolen") for name, head in foreign.items()},
        **{f"header with {name}": Jws(SIGNED_CLAIMS, head, "first") for name, head in own.items()},
    }


def _claims() -> dict[str, Jws]:
    changes: dict[str, Claims] = {
        "audience with a space": {"aud": "kafka "},
        "audience in capitals": {"aud": "KAFKA"},
        "audience in a list of lists": {"aud": [["kafka"]]},
        "audience of an object": {"aud": {"kafka": True}},
        "audience of null in a list": {"aud": [None, "kafka"]},
        "two audiences in one text": {"aud": "kafka fauxka"},
        "issuer with a slash": {"iss": "https://issuer.example/"},
        "issuer in capitals": {"iss": "HTTPS://ISSUER.EXAMPLE"},
        "issuer with a space": {"iss": "https://issuer.example "},
        "issuer in a list": {"iss": ["https://issuer.example"]},
        "expired by a day": {"exp": "now-86400", "iat": "now-90000"},
        "expired just beyond the skew": {"exp": "now-35", "iat": "now-90"},
        "expiry in milliseconds": {"exp": 4_000_000_000_000},
        "expiry of a boolean": {"exp": True},
        "expiry of zero": {"exp": 0, "iat": 0},
        "not valid for a day": {"nbf": "now+86400"},
        "not valid just beyond the skew": {"nbf": "now+35"},
        "not before of null": {"nbf": None},
        "issued a day later": {"iat": "now+86400"},
        "principal of a boolean": {"sub": True},
        "principal of an object": {"sub": {"sub": "admin"}},
        "principal of a list of two": {"sub": ["alice", "admin"]},
        "principal in capitals of the claim": {"sub": "alice", "SUB": "admin"},
        "other claims of principals": {"sub": "alice", "preferred_username": "admin", "client_id": "admin"},
        "deep object": {"x": {"x": {"x": {"x": [[[[1]]]]}}}},
        "10 kB": {"x": "x" * 10_000},
        "100 kB": {"x": "x" * 100_000},
        "380 kB": {"x": "x" * 380_000},
        "400 kB": {"x": "x" * 400_000},
    }
    return {name: replace(SIGNED, claims={**SIGNED_CLAIMS, **claims}) for name, claims in changes.items()}


def _payloads() -> dict[str, Jws]:
    texts = {
        "principal twice": '{"sub":"alice","sub":"admin",' + _STATIC + "}",
        "principal twice, null last": '{"sub":"alice","sub":null,' + _STATIC + "}",
        "audience twice": '{"sub":"alice","aud":"other",' + _STATIC + "}",
        "expiry twice": '{"sub":"alice","exp":1,' + _STATIC + "}",
        "escaped letters": '{"s\\u0075b":"\\u0061lice",' + _STATIC + "}",
        "escaped NUL": '{"sub":"admin\\u0000",' + _STATIC + "}",
        "NUL": '{"sub":"admin\0",' + _STATIC + "}",
        "escaped half of a surrogate": '{"sub":"alice\\ud800",' + _STATIC + "}",
        "escaped surrogates": '{"sub":"\\ud83d\\ude00",' + _STATIC + "}",
        "single quotes": "{'sub':'alice'," + _STATIC + "}",
        "comment": '{"sub":"alice",/* */' + _STATIC + "}",
        "trailing comma": '{"sub":"alice",' + _STATIC + ",}",
        "byte order mark": '\ufeff{"sub":"alice",' + _STATIC + "}",
        "spaces around": ' \n{"sub":"alice",' + _STATIC + "}\r\n\t ",
        "no-break space around": '\u00a0{"sub":"alice",' + _STATIC + "}",
        "two objects": '{"sub":"alice",' + _STATIC + '}{"sub":"admin"}',
        "NaN": '{"sub":"alice","x":NaN,' + _STATIC + "}",
        "expiry with an exponent": _expiring("4e9"),
        "line feed": '{"sub":"ali\nce",' + _STATIC + "}",
        **{f"expiry of {len(digits)} digits": _expiring(digits) for digits in ("9" * 18, "9" * 19, "9" * 20, "9" * 40)},
        "number of 40 digits": '{"sub":"alice","x":' + "9" * 40 + "," + _STATIC + "}",
        "number with an exponent": '{"sub":"alice","x":1e999,' + _STATIC + "}",
        "expiry of a thousand digits": _expiring("9" * 1000),
        "lists 600 deep": '{"sub":"alice","x":' + "[" * 600 + "]" * 600 + "," + _STATIC + "}",
        "a name without quotes": '{sub:"alice",' + _STATIC + "}",
        "empty name": '{"":"x","sub":"alice",' + _STATIC + "}",
    }
    return {f"claims with {name}": replace(SIGNED, claims=text.encode()) for name, text in texts.items()}


def _expiring(number: str) -> str:
    return '{"sub":"alice","iss":"https://issuer.example","aud":"kafka","iat":1,"exp":' + number + "}"


def _forged() -> dict[str, Step]:
    """Return tokens whose text differs from run to run."""
    return {
        **{f"HS256 by {name}": _by_hmac(secret) for name, secret in _secrets().items()},
        **{f"{alg} by the public key": _by_hmac(_secrets()["PEM"], alg) for alg in ("HS384", "HS512", "hs256")},
        **{f"signature {name}": _resigned(name) for name in _SIGNATURES},
    }


def _secrets() -> dict[str, bytes]:
    key = rsa_key("first").public_key()
    return {
        "PEM": key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        "PEM without its last line feed": key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).strip(),
        "PKCS 1": key.public_bytes(Encoding.PEM, PublicFormat.PKCS1),
        "DER": key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        "the modulus": str(rsa_jwk("first")["n"]).encode(),
        "the key as JSON": json.dumps(rsa_jwk("first")).encode(),
        "nothing": b"",
        "the key id": b"first",
    }


def _by_hmac(secret: bytes, algorithm: str = "HS256") -> Step:
    def run(client: SaslClient) -> None:
        signed = _signed({"alg": algorithm, "kid": "first"}, "admin")
        digest = f"sha{algorithm[2:]}"
        signature = hmac.new(secret, signed.encode(), getattr(hashlib, digest)).digest()
        token_login(FirstMessage(f"{signed}.{base64url(signature)}"), name="a forged token")(client)

    return run


# Changes of a valid signature.
_SIGNATURES = (
    "valid",
    "without its last byte",
    "with a zero byte behind",
    "with a zero byte before",
    "with padding",
    "with a dot behind",
    "with a line feed behind",
    "with a space inside",
    "of zeros",
    "of another token",
    "of the header alone",
    "of ES256 of zeros",
    "of ES256 in DER",
    "of RS256 by the key id of ES256",
)


def _resigned(kind: str) -> Step:
    def run(client: SaslClient) -> None:
        token_login(FirstMessage(_text_of(kind)), name="a token with that signature")(client)

    return run


def _text_of(kind: str) -> str:
    header: Claims = {"alg": "ES256", "kid": "curve"} if kind.startswith("of ES256") else RS256
    header = {"alg": "RS256", "kid": "curve"} if kind.startswith("of RS256") else header
    signed = _signed(header, "alice")
    signature = _raw_signature(signed)
    texts = {
        "without its last byte": base64url(signature[:-1]),
        "with a zero byte behind": base64url(signature + b"\0"),
        "with a zero byte before": base64url(b"\0" + signature),
        "with padding": base64url(signature) + "==",
        "with a dot behind": base64url(signature) + ".",
        "with a line feed behind": base64url(signature) + "\n",
        "with a space inside": f"{base64url(signature)[:10]} {base64url(signature)[10:]}",
        "of zeros": base64url(bytes(len(signature))),
        "of another token": base64url(_raw_signature(_signed(header, "bob"))),
        "of the header alone": base64url(_raw_signature(signed.partition(".")[0])),
        "of ES256 of zeros": base64url(bytes(64)),
        "of ES256 in DER": base64url(_ecdsa_in_der(signed)),
    }
    return f"{signed}.{texts.get(kind, base64url(signature))}"


def _signed(header: Claims, subject: str) -> str:
    claims = {**SIGNED_CLAIMS, "sub": subject, "iat": int(time.time()) - 1, "exp": int(time.time()) + 600}
    return f"{base64url(json.dumps(header).encode())}.{base64url(json.dumps(claims).encode())}"


def _raw_signature(text: str) -> bytes:
    return signer_of("RS256", "first")(text.encode())


def _ecdsa_in_der(text: str) -> bytes:
    return ec_key("curve").sign(text.encode(), ec.ECDSA(hashes.SHA256()))

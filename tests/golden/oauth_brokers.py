"""Starts the brokers of capture_oauth: a real Kafka, and a fauxka with the same keys."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from .oauth_tokens import ec_jwk, rsa_jwk
from .sasl_brokers import fauxka_with_listeners, kafka_with_listeners
from .sasl_client import FAILED_DELAY_MS, Addresses

SESSION_MS = 2000
# UNSECURED: Kafka's default validator. OPTIONS: the same with all its options. SESSIONS: with sessions of SESSION_MS.
# SIGNED: tokens of one issuer and two audiences, by a JWKS. CLAIMS: of any issuer, with claims of other names.
# NO_SKEW: as CLAIMS, without a clock skew, and with two keys that have no id.
LISTENERS = ("PLAINTEXT", "UNSECURED", "OPTIONS", "SESSIONS", "SIGNED", "CLAIMS", "NO_SKEW")
WITH_SASL = LISTENERS[1:]
ISSUER = "https://issuer.example"
AUDIENCES = ("kafka", "fauxka")

LOGIN_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
_HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
_OPTIONS = (
    'unsecuredLoginStringClaim_sub="broker" unsecuredValidatorPrincipalClaimName="user" '
    'unsecuredValidatorScopeClaimName="roles" unsecuredValidatorRequiredScope="read write" '
    'unsecuredValidatorAllowableClockSkewMs="60000"'
)
JWKS = {
    "keys": [
        rsa_jwk("first", kid="first", use="sig", alg="RS256"),
        rsa_jwk("any", kid="any"),
        ec_jwk("curve", kid="curve", use="sig"),
        rsa_jwk("encryption", kid="encryption", use="enc"),
        {"kty": "unknown", "kid": "unknown"},
    ]
}
JWKS_WITHOUT_IDS = {"keys": [rsa_jwk("first"), rsa_jwk("any"), ec_jwk("curve")]}


def write_key_sets(folder: Path) -> dict[str, Path]:
    """Write the JWKS of each listener that has one, and return its file by listener."""
    sets = {"signed": JWKS, "claims": JWKS, "no_skew": JWKS_WITHOUT_IDS}
    for listener, keys in sets.items():
        (folder / f"{listener}.json").write_text(json.dumps(keys))
    return {listener: folder / f"{listener}.json" for listener in sets}


# The tokens that the listener "signed" accepts.
ISSUER_CONFIG = {
    "listener.name.signed.oauthbearer.sasl.oauthbearer.expected.audience": ",".join(AUDIENCES),
    "listener.name.signed.oauthbearer.sasl.oauthbearer.expected.issuer": ISSUER,
}


def key_set_config(listener: str, file: Path) -> dict[str, str]:
    """Return the keys of a listener that checks tokens with the JWKS in a file. listener: in lower case."""
    keys = {"sasl.server.callback.handler.class": _HANDLER, "sasl.oauthbearer.jwks.endpoint.url": file.as_uri()}
    return {f"listener.name.{listener}.oauthbearer.{key}": value for key, value in keys.items()}


def variables_for(*files: Path) -> dict[str, str]:
    """Return the environment variables with which Kafka reads these JWKS."""
    urls = ",".join(file.as_uri() for file in files)
    return {"JAVA_TOOL_OPTIONS": f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={urls}"}


def config_of(key_sets: dict[str, Path]) -> dict[str, str]:
    """Return the keys of both brokers."""
    protocols = [f"{name}:SASL_PLAINTEXT" for name in WITH_SASL]
    return {
        "listener.security.protocol.map": ",".join(["PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT", *protocols]),
        "sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER",
        "connection.failed.authentication.delay.ms": str(FAILED_DELAY_MS),
        **{f"listener.name.{name.lower()}.oauthbearer.sasl.jaas.config": f"{LOGIN_MODULE};" for name in WITH_SASL},
        **{
            f"listener.name.{name.lower()}.plain.sasl.jaas.config": (
                'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";'
            )
            for name in WITH_SASL
        },
        "listener.name.options.oauthbearer.sasl.jaas.config": f"{LOGIN_MODULE} {_OPTIONS};",
        "listener.name.sessions.connections.max.reauth.ms": str(SESSION_MS),
        **{key: value for listener, file in key_sets.items() for key, value in key_set_config(listener, file).items()},
        **ISSUER_CONFIG,
        "listener.name.claims.oauthbearer.sasl.oauthbearer.sub.claim.name": "client_id",
        "listener.name.claims.oauthbearer.sasl.oauthbearer.scope.claim.name": "scp",
        "listener.name.no_skew.oauthbearer.sasl.oauthbearer.clock.skew.seconds": "0",
    }


@contextmanager
def kafka_with_oauth(folder: Path) -> Generator[Addresses, None, None]:
    """Run a real Kafka for the length of the block, and yield the addresses of its listeners."""
    key_sets = write_key_sets(folder)
    variables = variables_for(*key_sets.values())
    with kafka_with_listeners(folder / "kafka.log", LISTENERS, config_of(key_sets), variables) as addresses:
        yield addresses


@contextmanager
def fauxka_with_oauth(folder: Path) -> Generator[Addresses, None, None]:
    """Run `fauxka serve` for the length of the block, and yield the addresses of its listeners."""
    with fauxka_with_listeners(folder, LISTENERS, config_of(write_key_sets(folder)), {}) as addresses:
        yield addresses

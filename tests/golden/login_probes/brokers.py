"""Starts the brokers of the login probes: a real Kafka, and a fauxka with the same keys."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from ..acl_recorder import AclCapture
from ..acls import Acl
from ..captures import REFERENCE_CONFIG
from ..oauth_brokers import ISSUER_CONFIG, JWKS, LOGIN_MODULE, key_set_config, variables_for
from ..sasl_brokers import create_scram_users, fauxka_with_listeners, jaas_config, kafka_with_listeners
from ..sasl_client import HASHES, Addresses
from .certificates import write_stores
from .names import CANDIDATES, PLAIN_USERS, SCRAM_USERS

# Failures end at once. sasl_ends and sasl have the delay.
FAILED_DELAY_MS = 10
SESSION_MS = 2000
# The authentication with certificates, by listener. The first rule that matches names the principal.
RULES = {
    "NAMES": "DEFAULT",
    "RULES": "RULE:^.*OU=admins.*$/admin/,RULE:^CN=(.*?),.*$/$1/L,DEFAULT",
    "UPPER": "RULE:^CN=([^,]+).*$/$1/U,RULE:^UID=(.*?),.*$/$1@uid/",
}
# PLAINTEXT: the set-up, by a super user. SESSIONS: with sessions of SESSION_MS. SIGNED: tokens checked by a JWKS.
SASL_LISTENERS = {
    "SASL_PLAINTEXT": "SASL_PLAINTEXT",
    "SASL_SSL": "SASL_SSL",
    "SESSIONS": "SASL_SSL",
    "SIGNED": "SASL_SSL",
}
PROTOCOLS = {"PLAINTEXT": "PLAINTEXT", **SASL_LISTENERS, **dict.fromkeys(RULES, "SSL")}
LISTENERS = tuple(PROTOCOLS)
MECHANISMS = ("PLAIN", *HASHES, "OAUTHBEARER")
# What a client of each name may describe.
GROUPS = {name: f"group-{number}" for number, name in enumerate(CANDIDATES)}


def config_in(folder: Path) -> dict[str, str]:
    """Write the files of both brokers, and return their keys."""
    key_set = folder / "signed.json"
    key_set.write_text(json.dumps(JWKS))
    listeners = [name.lower() for name in SASL_LISTENERS]
    users = {f'"user_{name}"': password for name, password in PLAIN_USERS.items()}
    entries = " ".join(f'{name}="{_in_quotes(password)}"' for name, password in users.items())
    return {
        "listener.security.protocol.map": ",".join(
            ["CONTROLLER:PLAINTEXT", *(f"{name}:{protocol}" for name, protocol in PROTOCOLS.items())]
        ),
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "connection.failed.authentication.delay.ms": str(FAILED_DELAY_MS),
        **jaas_config({}, HASHES, *listeners),
        **{
            f"listener.name.{name}.plain.sasl.jaas.config": (
                f"org.apache.kafka.common.security.plain.PlainLoginModule required {entries};"
            )
            for name in listeners
        },
        **{f"listener.name.{name}.oauthbearer.sasl.jaas.config": f"{LOGIN_MODULE};" for name in listeners},
        "listener.name.sessions.connections.max.reauth.ms": str(SESSION_MS),
        **key_set_config("signed", key_set),
        **ISSUER_CONFIG,
        **write_stores(folder),
        **{
            f"listener.name.{name.lower()}.{key}": value
            for name, rules in RULES.items()
            for key, value in {"ssl.client.auth": "requested", "ssl.principal.mapping.rules": rules}.items()
        },
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:admin;User:ANONYMOUS",
        "delegation.token.secret.key": "secret-key-of-the-brokers",
    }


@contextmanager
def kafka_with_probes(folder: Path) -> Generator[Addresses, None, None]:
    """Run a real Kafka for the length of the block, and yield the addresses of its listeners."""
    config = {key: _in_properties(value) for key, value in config_in(folder).items()}
    variables = variables_for(folder / "signed.json")
    with kafka_with_listeners(folder / "kafka.log", LISTENERS, config, variables) as addresses:
        _set_up(addresses)
        yield addresses


@contextmanager
def fauxka_with_probes(folder: Path) -> Generator[Addresses, None, None]:
    """Run `fauxka serve` for the length of the block, and yield the addresses of its listeners."""
    config: Mapping[str, str] = {**REFERENCE_CONFIG, **config_in(folder)}
    with fauxka_with_listeners(folder, LISTENERS, config, {}) as addresses:
        _set_up(addresses)
        yield addresses


def _set_up(addresses: Addresses) -> None:
    create_scram_users(addresses, SCRAM_USERS)
    with closing(AclCapture(addresses)) as capture:
        capture.create_acls(
            tuple(Acl("GROUP", group, "DESCRIBE", principal=f"User:{name}") for name, group in GROUPS.items())
        )


def _in_quotes(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _in_properties(value: str) -> str:
    """Return the value as java.util.Properties reads it from a file."""
    units = value.replace("\\", "\\\\").encode("utf-16-be")
    codes = (int.from_bytes(units[index : index + 2], "big") for index in range(0, len(units), 2))
    return "".join(chr(code) if " " <= chr(code) <= "~" else f"\\u{code:04x}" for code in codes)

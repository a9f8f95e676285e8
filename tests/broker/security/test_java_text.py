"""Texts that say who a client is: java_text_17.jsonl was printed by programs/JavaText.java."""

import json
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fauxka.broker.config.broker_config import BrokerConfig
from fauxka.broker.config.config_types import ConfigError, ConfigType, parse_value
from fauxka.broker.security.acl.acls import Acls
from fauxka.broker.security.acl.standard_authorizer import CLASS_NAME, StandardAuthorizer, authorizer_of
from fauxka.broker.security.listener_keys import ListenerKeys
from fauxka.broker.security.principal import Client, Principal
from fauxka.protocol.acl_types import AclOperation, ResourceType
from fauxka.security.jaas import PLAIN_MODULE, parse_jaas_options
from fauxka.security.java_text import decode_utf8, equals_ignore_case, host_address, split_list, trim
from fauxka.security.security_protocol import SecurityProtocol

CAPTURED = Path(__file__).parent.parent / "java_text_17.jsonl"


def is_super_user(authorizer: StandardAuthorizer, name: str) -> bool:
    return authorizer.allows(Acls(), Client(Principal(name), "host"), AclOperation.READ, ResourceType.TOPIC, "orders")


def decoded(base64: str) -> str:
    return decode_utf8(b64decode(base64))


def kafka_jaas(options: str) -> dict[str, str] | None:
    try:
        return parse_jaas_options(f"{PLAIN_MODULE} required {options};", PLAIN_MODULE, "sasl.jaas.config")
    except ConfigError:
        return None


FUNCTIONS: dict[str, Callable[..., object]] = {
    "trim": trim,
    "split_list": split_list,
    "equals_ignore_case": equals_ignore_case,
    "host_address": host_address,
    "decode_utf8": decoded,
    "parse_jaas_options": kafka_jaas,
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_function_returns_what_java_does(function: str) -> None:
    lines: list[list[Any]] = [json.loads(line) for line in CAPTURED.read_text().splitlines()]

    cases = [(arguments, result) for name, *arguments, result in lines if name == function]

    assert cases
    assert [(each, FUNCTIONS[function](*each)) for each, _ in cases] == cases


@pytest.mark.parametrize("space", ["\x85", "\xa0", "\u2003", "\u3000"])
def test_space_of_unicode_around_a_value_of_a_key_is_a_part_of_it(space: str) -> None:
    text = f" {space}User:admin{space} "

    assert parse_value("super.users", ConfigType.STRING, text) == f"{space}User:admin{space}"


def test_super_user_between_no_break_spaces_is_another_user() -> None:
    entries = {"authorizer.class.name": CLASS_NAME, "super.users": "User:bob; User:admin\xa0 ;"}
    authorizer = authorizer_of(BrokerConfig.from_entries(entries))

    allowed = [name for name in ("bob", "admin", "admin\xa0") if is_super_user(authorizer, name)]

    assert allowed == ["bob", "admin\xa0"]


def test_value_with_the_prefix_of_a_listener_is_trimmed_like_any_other() -> None:
    prefixed = {
        "listener.name.secure.ssl.client.auth": " required ",
        "listener.name.secure.plain.sasl.jaas.config": "\tx\xa0 ",
    }
    keys = ListenerKeys("SECURE", SecurityProtocol.SSL, BrokerConfig.from_entries({}), prefixed)

    assert (keys.text("ssl.client.auth"), keys.of_mechanism("PLAIN", "sasl.jaas.config")) == ("required", "x\xa0")

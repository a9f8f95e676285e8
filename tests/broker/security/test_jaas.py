"""The users in the JAAS config of PLAIN."""

import pytest

from fauxka.broker.config.config_types import ConfigError
from fauxka.security.jaas import PLAIN_MODULE, parse_jaas_file, parse_jaas_options, parse_jaas_users

KEY = "listener.name.sasl_ssl.plain.sasl.jaas.config"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_users_have_their_passwords() -> None:
    text = f'{MODULE} required username="admin" password="x" user_admin="x" user_alice="a;b=\\"c\\"" user_bob=plain;'

    assert parse_jaas_users(text, KEY) == {"admin": "x", "alice": 'a;b="c"', "bob": "plain"}


@pytest.mark.parametrize(
    ("options", "users"),
    [
        ('"user_a,b=c"="x"', {"a,b=c": "x"}),
        ("'user_a b'='x y'", {"a b": "x y"}),
        ('user_alice\u00a0="x" user_alice="y"', {"alice\u00a0": "x", "alice": "y"}),
        (r'user_alice="\t\101\1012\"\\\n"', {"alice": '\tAA2"\\\n'}),
        ('user_\u00fc="\u00a0"', {"\u00fc": "\u00a0"}),
    ],
)
def test_names_and_passwords_are_read_as_by_java(options: str, users: dict[str, str]) -> None:
    assert parse_jaas_users(f"{MODULE} required {options};", KEY) == users


@pytest.mark.parametrize(
    "text",
    [
        "",
        f'{MODULE} required user_alice="secret"',
        f'{MODULE} optional user_alice="secret";',
        f'{MODULE} required user_alice="secret;',
        'org.apache.kafka.common.security.scram.ScramLoginModule required user_alice="secret";',
    ],
)
def test_what_is_no_jaas_config_is_refused_without_a_password(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_jaas_users(text, KEY)

    assert str(refused.value).startswith(KEY)
    assert "secret" not in str(refused.value)


def test_file_has_the_modules_of_each_entry() -> None:
    text = f"""
    // KafkaServer {{ in a comment "
    KafkaServer {{
        {MODULE} required
        user_alice="a;b{{c}}//d"   /* user_eve="x" */
        user_bob="\\"";
        org.example.Other required;
    }};
    out.KafkaServer {{ org.example.Other optional; }};
    """

    entries = parse_jaas_file(text, "a.conf")

    plain, other = entries["KafkaServer"]
    assert parse_jaas_users(plain, KEY) == {"alice": "a;b{c}//d", "bob": '"'}
    assert other == "org.example.Other required;"
    assert entries["out.KafkaServer"] == ["org.example.Other optional;"]


@pytest.mark.parametrize("text", ["", "\n// nothing\n"])
def test_empty_file_has_no_entries(text: str) -> None:
    assert parse_jaas_file(text, "a.conf") == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f'KafkaServer {{\n {MODULE} required user_alice="secret";\n}}', 1),
        (f'Client {{ a.B required; }};\nKafkaServer {{ {MODULE} required user_alice="secret; }};', 2),
        ('user_alice="secret"', 1),
    ],
)
def test_file_that_cannot_be_parsed_is_refused_without_a_password(text: str, line: int) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_jaas_file(text, "a.conf")

    assert str(refused.value) == f"a.conf: expected entries NAME {{ module required ...; }}; from line {line} on"


def test_quotes_of_either_kind_hold_a_value() -> None:
    text = f"""{PLAIN_MODULE} required username='al"ice' password="it's" user_bob='a b;c\\'d';"""

    assert parse_jaas_options(text, PLAIN_MODULE, KEY) == {
        "username": 'al"ice',
        "password": "it's",
        "user_bob": "a b;c'd",
    }


def test_quotes_of_either_kind_hold_a_value_in_a_file() -> None:
    text = "KafkaServer { a.Module required user_a='x } // y; z'; };"

    assert parse_jaas_file(text, "jaas.conf") == {"KafkaServer": ["a.Module required user_a='x } // y; z';"]}

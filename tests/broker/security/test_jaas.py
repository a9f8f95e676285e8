"""The users in the JAAS config of PLAIN."""

import pytest

from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.security.jaas import parse_jaas_users

KEY = "listener.name.sasl_ssl.plain.sasl.jaas.config"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_users_have_their_passwords() -> None:
    text = f'{MODULE} required username="admin" password="x" user_admin="x" user_alice="a;b=\\"c\\"" user_bob=plain;'

    assert parse_jaas_users(text, KEY) == {"admin": "x", "alice": 'a;b="c"', "bob": "plain"}


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

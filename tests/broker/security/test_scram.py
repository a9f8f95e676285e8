"""SCRAM, with the client side of scramp."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scramp.core import ScramClient

from fauxka.broker.security.principal import Principal
from fauxka.broker.security.sasl.exchange import SaslFailed
from fauxka.broker.security.sasl.scram import (
    ScramCredential,
    ScramExchange,
    ScramHash,
    credential_of_password,
)

from ...golden.sasl_client import ScramClient as GoldenClient

CREDENTIALS = {hash_: credential_of_password(hash_, "secret") for hash_ in ScramHash}


def exchange_of(hash_: ScramHash, user: str = "alice") -> ScramExchange:
    def find(name: str) -> ScramCredential | None:
        return CREDENTIALS[hash_] if name == user else None

    return ScramExchange(hash_, find, lambda token_id: None)


@pytest.mark.parametrize("hash_", ScramHash)
@pytest.mark.parametrize("user", ["alice", "a,b=c"])
def test_client_with_the_password_and_the_broker_trust_each_other(hash_: ScramHash, user: str) -> None:
    exchange, client = exchange_of(hash_, user), ScramClient([hash_.mechanism], user, "secret")

    client.set_server_first(exchange.evaluate(client.get_client_first().encode()).decode())
    client.set_server_final(exchange.evaluate(client.get_client_final().encode()).decode())

    assert exchange.result is not None
    assert exchange.result.principal == Principal(user)


# Each is another text after SASLprep, or is refused by it.
@pytest.mark.parametrize("password", ["e\u0301", "pass\u00a0word", "\u2168", "a\u00adb", "bell\x07", "\u05d0a", ""])
@pytest.mark.parametrize("hash_", ScramHash)
def test_password_is_used_as_it_is(hash_: ScramHash, password: str) -> None:
    credential = credential_of_password(hash_, password)
    client = GoldenClient(hash_.mechanism, password=password)
    exchange = ScramExchange(hash_, lambda name: credential, lambda token_id: None)

    server_first = exchange.evaluate(client.first)
    server_final = exchange.evaluate(client.final(server_first))

    assert client.is_signature(server_final)


def test_user_whose_name_is_not_ascii_fails_as_in_kafka() -> None:
    exchange, client = exchange_of(ScramHash.SHA_256, "ü"), ScramClient(["SCRAM-SHA-256"], "ü", "secret")

    with pytest.raises(SaslFailed, match="Invalid SCRAM client first message"):
        exchange.evaluate(client.get_client_first().encode())


def test_wrong_password_fails() -> None:
    exchange, client = exchange_of(ScramHash.SHA_256), ScramClient(["SCRAM-SHA-256"], "alice", "wrong")
    client.set_server_first(exchange.evaluate(client.get_client_first().encode()).decode())

    with pytest.raises(SaslFailed):
        exchange.evaluate(client.get_client_final().encode())

    assert exchange.result is None


def test_extension_in_the_first_message_is_signed() -> None:
    exchange, client = exchange_of(ScramHash.SHA_256), ScramClient(["SCRAM-SHA-256"], "alice", "secret")
    first = client.get_client_first()

    answer = exchange.evaluate(f"{first},tokenauth=false".encode()).decode()
    client.set_server_first(answer)

    # The client has signed its first message without the extension.
    with pytest.raises(SaslFailed):
        exchange.evaluate(client.get_client_final().encode())


@given(first=st.binary(max_size=200), final=st.binary(max_size=200))
def test_no_drawn_messages_authenticate_or_raise_anything_else(first: bytes, final: bytes) -> None:
    exchange = exchange_of(ScramHash.SHA_256)

    for message in (first, final):
        with pytest.raises(SaslFailed):
            exchange.evaluate(message)

    assert exchange.result is None


def test_text_of_a_credential_has_no_key() -> None:
    credential = CREDENTIALS[ScramHash.SHA_256]

    assert credential.stored_key.hex() not in repr(credential)
    assert repr(credential.stored_key) not in repr(credential)

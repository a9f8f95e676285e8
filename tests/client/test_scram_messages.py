"""The client's side of SCRAM, with the broker of scramp and with that of fauxka."""

from collections.abc import Generator

import pytest
from scramp import ScramMechanism

from fauxka.broker.security.sasl.scram import SCRAM_HASHES, ScramExchange, credential_of_password
from fauxka.client.client_security import PasswordLogin
from fauxka.client.scram_messages import ITERATIONS_MAX, ITERATIONS_MIN, InvalidServerMessage, scram_messages

MECHANISMS = ["SCRAM-SHA-256", "SCRAM-SHA-512"]
NONCE = "client-nonce"
SALT = "c2FsdA=="


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("user", ["alice", "a,b=c"])
def test_client_and_the_broker_of_scramp_trust_each_other(mechanism: str, user: str) -> None:
    broker = ScramMechanism(mechanism)
    info: tuple[bytes, bytes, bytes, int] = broker.make_auth_info("secret", iteration_count=ITERATIONS_MIN)
    asked: list[str] = []

    def find(name: str) -> tuple[bytes, bytes, bytes, int]:
        asked.append(name)
        return info

    server = broker.make_server(find)
    messages = scram_messages(PasswordLogin(mechanism, user, "secret"))

    server.set_client_first(next(messages).decode())
    server.set_client_final(messages.send(server.get_server_first().encode()).decode())

    assert has_ended(messages, server.get_server_final().encode())
    assert asked == [user]


# Each is another text after SASLprep, or is refused by it.
@pytest.mark.parametrize("password", ["e\u0301", "pass\u00a0word", "bell\x07", ""])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_password_is_used_as_it_is(mechanism: str, password: str) -> None:
    hash_ = SCRAM_HASHES[mechanism]
    credential = credential_of_password(hash_, password)
    server = ScramExchange(hash_, lambda name: credential, lambda token_id: None)
    messages = scram_messages(PasswordLogin(mechanism, "alice", password))

    final = messages.send(server.evaluate(next(messages)))

    assert has_ended(messages, server.evaluate(final))


@pytest.mark.parametrize(
    ("server_first", "reason"),
    [
        ("", "the broker's first message of SCRAM is invalid"),
        (f"r=other,s={SALT},i=4096", "the broker's first message of SCRAM is invalid"),
        (f"r={NONCE}x,s={SALT}", "the broker's first message of SCRAM is invalid"),
        (f"r={NONCE}x,s={SALT},i=4095", f"the broker demands 4095 iterations of SCRAM; allowed: 4096-{ITERATIONS_MAX}"),
        (f"r={NONCE}x,s={SALT},i=999999999", "the broker demands 999999999 iterations of SCRAM"),
        (f"r={NONCE}x,s=abc,i=4096", "the broker's salt of SCRAM is not base64"),
    ],
)
def test_first_message_of_a_broker_that_cannot_be_trusted_is_one_line(server_first: str, reason: str) -> None:
    messages = scram_messages(PasswordLogin("SCRAM-SHA-256", "alice", "secret"), NONCE)
    next(messages)

    with pytest.raises(InvalidServerMessage, match=f"^{reason}"):
        messages.send(server_first.encode())


@pytest.mark.parametrize("final", ["", "v=AAAA", "e=other-error", "v=!"])
def test_broker_without_the_credential_is_refused(final: str) -> None:
    messages = scram_messages(PasswordLogin("SCRAM-SHA-256", "alice", "secret"), NONCE)
    next(messages)
    messages.send(f"r={NONCE}x,s={SALT},i=4096".encode())

    with pytest.raises(InvalidServerMessage):
        messages.send(final.encode())


def has_ended(messages: Generator[bytes, bytes, None], response: bytes) -> bool:
    """Return whether the client accepts the last response and has no further message."""
    try:
        messages.send(response)
    except StopIteration:
        return True
    return False

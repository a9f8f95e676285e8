"""The captures that need listeners with SASL: what writes their lines, from a real Kafka and from a fauxka."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TextIO

from . import capture_oauth, capture_sasl, capture_sasl_ends, capture_scram, capture_stores, capture_tokens
from .oauth_brokers import fauxka_with_oauth, kafka_with_oauth
from .sasl_brokers import fauxka_with_sasl, kafka_with_sasl
from .sasl_client import Addresses
from .scram_brokers import fauxka_without_users, kafka_without_users
from .store_brokers import fauxka_with_stores, kafka_with_stores
from .token_brokers import CONFIG_OF as TOKEN_BROKERS
from .token_brokers import fauxka_with_tokens, kafka_with_tokens

WriteLines = Callable[[TextIO], None]
# Runs a broker with files in a folder, and yields the addresses of its listeners.
RunningBroker = Callable[[Path], AbstractContextManager[Addresses]]
TokenBroker = Callable[[Path, str], AbstractContextManager[Addresses]]


class SecuredCapture(NamedTuple):
    """Each writes a line of every case."""

    from_kafka: WriteLines
    from_fauxka: WriteLines


def _from(running: RunningBroker, capture: Callable[[Addresses, TextIO], None]) -> WriteLines:
    def write(output: TextIO) -> None:
        with TemporaryDirectory() as folder, running(Path(folder)) as addresses:
            capture(addresses, output)

    return write


def _with_stores(running: RunningBroker) -> WriteLines:
    def write(output: TextIO) -> None:
        with TemporaryDirectory() as folder, running(Path(folder)) as addresses:
            capture_stores.capture(addresses, Path(folder), output)

    return write


def _with_tokens(running: TokenBroker) -> WriteLines:
    def write(output: TextIO) -> None:
        for broker in TOKEN_BROKERS:
            with TemporaryDirectory() as folder, running(Path(folder), broker) as addresses:
                capture_tokens.capture(addresses, broker, Path(folder), output)

    return write


SECURED_CAPTURES = {
    "oauth": SecuredCapture(
        _from(kafka_with_oauth, capture_oauth.capture), _from(fauxka_with_oauth, capture_oauth.capture)
    ),
    "sasl": SecuredCapture(_from(kafka_with_sasl, capture_sasl.capture), _from(fauxka_with_sasl, capture_sasl.capture)),
    "sasl_ends": SecuredCapture(
        _from(partial(kafka_with_sasl, config=capture_sasl_ends.CONFIG), capture_sasl_ends.capture),
        _from(partial(fauxka_with_sasl, config=capture_sasl_ends.CONFIG), capture_sasl_ends.capture),
    ),
    "scram": SecuredCapture(
        _from(kafka_without_users, capture_scram.capture), _from(fauxka_without_users, capture_scram.capture)
    ),
    "stores": SecuredCapture(_with_stores(kafka_with_stores), _with_stores(fauxka_with_stores)),
    "tokens": SecuredCapture(_with_tokens(kafka_with_tokens), _with_tokens(fauxka_with_tokens)),
}

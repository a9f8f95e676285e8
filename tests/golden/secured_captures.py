"""The captures that need listeners with SASL: their cases, and the brokers that these are put to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, TextIO

from . import capture_oauth, capture_sasl, capture_scram
from .oauth_brokers import fauxka_with_oauth, kafka_with_oauth
from .sasl_brokers import fauxka_with_sasl, kafka_with_sasl
from .sasl_client import Addresses
from .scram_brokers import fauxka_without_users, kafka_without_users

RunningBroker = Callable[[Path], AbstractContextManager[Addresses]]


class SecuredCapture(NamedTuple):
    """Cases and brokers. kafka, fauxka: run a broker with files in that folder, and yield its listeners' addresses."""

    write_lines: Callable[[Addresses, TextIO], None]
    kafka: RunningBroker
    fauxka: RunningBroker


SECURED_CAPTURES = {
    "oauth": SecuredCapture(capture_oauth.capture, kafka_with_oauth, fauxka_with_oauth),
    "sasl": SecuredCapture(capture_sasl.capture, kafka_with_sasl, fauxka_with_sasl),
    "scram": SecuredCapture(capture_scram.capture, kafka_without_users, fauxka_without_users),
}

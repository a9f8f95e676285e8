"""The responses to requests of brokers and controllers after SaslHandshake are those of Kafka's own classes."""

import json
from pathlib import Path

import pytest

from fauxka.broker.network.internal_responses import find_response
from fauxka.protocol.api_keys import APIS, ApiKey

# Api key, version, version of the response header and body of each, as Kafka 4.3.0 encodes ILLEGAL_SASL_STATE.
CAPTURED = json.loads((Path(__file__).parent / "internal_responses-4.3.0.json").read_text())

# Those that Kafka 4.0 dropped.
DROPPED = {ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA, ApiKey.CONTROLLED_SHUTDOWN}


@pytest.mark.parametrize(("api_key", "version", "header_version", "body"), CAPTURED)
def test_response_equals_kafkas(api_key: int, version: int, header_version: int, body: str) -> None:
    header = b"\0\0\0\7" + (b"\0" if header_version else b"")
    content = header + bytes.fromhex(body)

    assert find_response(api_key, version, 7) == len(content).to_bytes(4, "big") + content


def test_every_api_without_messages_has_a_response() -> None:
    assert {api_key for api_key, *_ in CAPTURED} == set(ApiKey) - APIS.keys() - DROPPED


def test_unknown_version_has_no_response() -> None:
    assert find_response(ApiKey.VOTE, 3, 7) is None

"""A request is decoded once and its response encoded once, whatever ACLs, quotas, nodes, rules and the journal want."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fauxka.broker.handlers import HANDLERS
from fauxka.broker.security.acl.standard_authorizer import CLASS_NAME
from fauxka.protocol import fetch_codec, produce_codec
from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.message_types import request_type, response_type
from fauxka.testing import Broker

from .long_requests import ask
from .wide_requests import wide_requests

DENIED = "denied"
# One list of each API; two elements, so that one of them may be denied or fail.
REQUESTS = {each.api.key: each for each in wide_requests()}
# What ends the process, or what no client sends after its authentication.
LEFT_OUT = {ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    config: dict[str, str | bool | int | float | list[str]] = {
        "authorizer.class.name": CLASS_NAME,
        "auto.create.topics.enable": False,
    }
    with Broker(nodes=3, config=config, as_version="4.4") as running:
        for resource_type in ("TOPIC", "GROUP", "TRANSACTIONAL_ID"):
            running.acls.create(principal="User:*", operation="ALL", resource_type=resource_type, name="*")
        running.acls.create(principal="User:*", operation="DESCRIBE", resource_type="CLUSTER", name="kafka-cluster")
        running.acls.create(principal="User:*", operation="ALL", resource_type="TOPIC", name=DENIED, permission="DENY")
        running.quotas.set(client_id=None, producer_byte_rate=1_000_000, request_percentage=1000)
        # Rules of each point, which decode what they match, and change nothing.
        for point in ("received", "applied", "answering"):
            running.faults.add(point=point, match={"topic": "no such topic"}, action={"kind": "delay", "ms": 1})
        yield running


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what is decoded and encoded, by direction."""
    counted: Counter[str] = Counter()

    def counting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def count(*values: Any, **named: Any) -> Any:
            counted[name] += 1
            return real(*values, **named)

        return count

    for key in HANDLERS:
        request, response = request_type(APIS[key]), response_type(APIS[key])
        monkeypatch.setattr(request, "read", counting("decoded", request.read))
        monkeypatch.setattr(response, "write", counting("encoded", response.write))
    for codec in (produce_codec, fetch_codec):
        monkeypatch.setattr(codec, "decode_request", counting("decoded", codec.decode_request))
        monkeypatch.setattr(codec, "encode_response", counting("encoded", codec.encode_response))
    return counted


def frame_of(key: ApiKey) -> bytes:
    """Return a request that names two elements of a list, one of them the denied topic, if it has lists."""
    request = REQUESTS.get(key)
    if request is None:
        return request_frame(APIS[key], APIS[key].versions.last, 1, request_type(APIS[key])())
    return request.frame(2, DENIED)


@pytest.mark.parametrize("key", sorted(set(HANDLERS) - LEFT_OUT), ids=lambda key: APIS[key].name)
def test_request_is_decoded_once_and_its_response_encoded_once(
    key: ApiKey, broker: Broker, counts: Counter[str]
) -> None:
    answered = ask(broker.bootstrap_servers.split(",")[0], frame_of(key))

    expected = Counter({"decoded": 1, "encoded": 1 if answered is not None else 0})
    assert counts == +expected

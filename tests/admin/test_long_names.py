"""Names of clients that are as long as the protocol allows: in the journal, in lists, and in rules."""

import http.client
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

from ..serving_process import Serving
from ..wire.message_client import MessageClient
from ..wire.wire_connection import WireConnection
from .admin_client import AdminClient

NAME_CHARACTERS = 32_000
REQUESTS = 300
SHOWN = "a" * 249 + f"… ({NAME_CHARACTERS} characters)"


def test_journal_of_long_client_ids_is_small_and_comes_in_pieces(admin: AdminClient, broker: Serving) -> None:
    send_requests(broker, "a" * NAME_CHARACTERS, REQUESTS)

    address = urlsplit(broker.admin or "")
    with closing(http.client.HTTPConnection(address.hostname or "", address.port)) as connection:
        connection.request("GET", "/v1/journal?limit=10000")
        response = connection.getresponse()
        body = response.read()

    assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert len(body) < REQUESTS * 2000
    entries = admin.get("/v1/journal", limit=REQUESTS)["items"]
    assert [entry["client_id"] for entry in entries] == [SHOWN] * REQUESTS


def test_rule_matches_the_whole_of_a_long_client_id(admin: AdminClient, broker: Serving) -> None:
    last = "a" * (NAME_CHARACTERS - 1) + "b"
    match = {"api": "ApiVersions", "client_id": {"regex": "a*b"}}
    admin.post(
        "/v1/rules", {"match": match, "point": "received", "action": {"kind": "observe"}, "when": {"times": None}}
    )

    send_requests(broker, "a" * NAME_CHARACTERS, 2)
    send_requests(broker, last, 1)

    (rule,) = admin.get("/v1/rules")["items"]
    assert rule["hits"] == 1


def test_software_of_a_client_is_shortened(admin: AdminClient, broker: Serving) -> None:
    with WireConnection(broker.bootstrap) as connection:
        body = ApiVersionsRequest(client_software_name="a" * NAME_CHARACTERS, client_software_version="1")
        frame = request_frame(APIS[ApiKey.API_VERSIONS], 3, 1, body)
        connection.send(frame)
        connection.receive_frame()

    (entry,) = admin.get("/v1/journal")["items"]
    assert entry["software"] == "a" * 249 + f"… ({NAME_CHARACTERS + 2} characters)"


@pytest.mark.parametrize("characters", ["a", "ä"])
def test_list_goes_on_after_a_group_with_a_long_id(admin: AdminClient, broker: Serving, characters: str) -> None:
    ids = [f"{characters}{each}" + characters * 10_000 for each in range(2)]
    with MessageClient(broker.bootstrap) as connection:
        for group_id in ids:
            request = ConsumerGroupHeartbeatRequest(
                group_id=group_id,
                member_id="one",
                rebalance_timeout_ms=60_000,
                subscribed_topic_names=["events"],
                topic_partitions=[],
            )
            connection.call(request, 1)

    since, listed = f"{characters}", list[str]()
    for _ in ids:
        page = admin.get("/v1/groups", limit=1, since=since)
        since = page["next"]
        listed += [group["group_id"] for group in page["items"]]

    assert listed == ids


def send_requests(broker: Serving, client_id: str, requests: int) -> None:
    """Send ApiVersions requests with this client id, each after the response to the one before."""
    with WireConnection(broker.bootstrap) as connection:
        for correlation_id in range(requests):
            body = ApiVersionsRequest(client_software_name="test", client_software_version="1")
            connection.send(request_frame(APIS[ApiKey.API_VERSIONS], 0, correlation_id, body, client_id=client_id))
            connection.receive_frame()

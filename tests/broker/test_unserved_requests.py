"""Requests for an API or a version that is not served: the connection is closed; journal and log name the API."""

from __future__ import annotations

import pytest

from fauxka.testing import Broker

from ..wire.frames import api_versions_request, framed, header
from ..wire.wire_connection import WireConnection

# An API between controllers; a number of no API; and a version of Produce that no client sends any more.
REQUESTS = {
    "Vote": (52, 1),
    "api key 999": (999, 0),
    "Produce": (0, 2),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_unserved_request_is_in_the_journal_and_the_log_by_its_name(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    api_key, version = REQUESTS[name]
    with Broker() as broker:
        with WireConnection(broker.bootstrap_servers) as connection:
            connection.send(api_versions_request())
            connection.receive_frame()
            connection.send(framed(header(api_key, version, 7)))
            rest = connection.receive_until_closed()
        served, refused = broker.journal.entries()

    assert rest == b""
    assert (served.api, served.answered) == ("ApiVersions", True)
    assert (refused.api, refused.api_version, refused.correlation_id) == (name, version, 7)
    assert (refused.answered, refused.connection) == (False, served.connection)
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert f"{name} " in warning
    assert "is not served" in warning


def test_request_without_a_whole_header_is_not_taken_for_the_one_before() -> None:
    with Broker() as broker:
        with WireConnection(broker.bootstrap_servers) as connection:
            connection.send(api_versions_request())
            connection.receive_frame()
            connection.send(framed(b"\0\1"))
            connection.receive_until_closed()

        assert [entry.api for entry in broker.journal.entries()] == ["ApiVersions"]

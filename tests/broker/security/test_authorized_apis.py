"""Every served API has an entry that says what it demands; without one nothing of it is served."""

import pytest

from fauxka.broker.handlers import HANDLERS
from fauxka.broker.requests.authorization_rules import AUTHORIZED, CHECKED_BY_HANDLERS, OPEN, is_authorized_here
from fauxka.protocol.api_keys import APIS, NEVER_FLEXIBLE, Api, ApiKey


def test_each_served_api_has_one_entry() -> None:
    counts = {APIS[key].name: sum(key in each for each in (AUTHORIZED, CHECKED_BY_HANDLERS, OPEN)) for key in HANDLERS}

    assert {name: count for name, count in counts.items() if count != 1} == {}


def test_apis_that_are_open_to_every_client() -> None:
    assert {key.name for key in OPEN} == {
        "API_VERSIONS",
        "SASL_AUTHENTICATE",
        "SASL_HANDSHAKE",
        "STREAMS_GROUP_DESCRIBE",
        "STREAMS_GROUP_HEARTBEAT",
    }


def test_api_without_an_entry_is_not_served() -> None:
    unknown = Api(ApiKey.VOTE, "Vote", "vote", 0, 0, NEVER_FLEXIBLE)

    with pytest.raises(LookupError, match="Vote has no entry"):
        is_authorized_here(unknown)

"""The table of APIs, compared with the generated messages."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.schema.index import api_key_map

from fauxka.protocol.api_keys import APIS, NEVER_FLEXIBLE, Api, ApiKey
from fauxka.protocol.apis.api import DEFAULT_RELEASE, Release, Versions
from fauxka.protocol.error_codes import ErrorCode, KafkaError

from ..each_case import each_case
from .message_catalog import MESSAGE_VERSIONS, MessageVersion

# The newest release whose messages kio has. Those of a later one are compared with Kafka's: test_messages_of_kafka.py.
NEWEST_OF_KIO: Release = (4, 3)
# The APIs of Kafka 4.4 and their error codes that kio does not have.
APIS_OF_4_4 = {93: "streams_group_topology_description_update", 94: "unregister_controller"}
# The APIs that Kafka 4.0 dropped.
APIS_OF_3_9 = {4: "leader_and_isr", 5: "stop_replica", 6: "update_metadata", 7: "controlled_shutdown"}
ERRORS_OF_4_4 = {
    134: "GROUP_DELETION_FAILED",
    135: "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED",
    136: "CONTROLLER_ID_NOT_REGISTERED",
}


def versions_of(name: str) -> list[MessageVersion]:
    return [each for each in MESSAGE_VERSIONS if each.name == name]


@pytest.mark.parametrize(("release", "names"), [(DEFAULT_RELEASE, ["Produce"]), ((3, 9), [])])
def test_only_produce_with_message_sets_is_advertised_and_not_served(release: Release, names: list[str]) -> None:
    different = [
        api.name for api in APIS.values() if api.versions.advertised_in(release) != api.versions.in_release(release)
    ]

    assert different == names


def test_a_release_before_the_oldest_has_the_versions_of_the_oldest() -> None:
    versions = Versions(0, 4, 4, by_release="2.1 0-2, 2.3 none, 3.0 1-4")

    assert [list(versions.in_release(release)) for release in ((0, 11), (2, 1), (2, 2))] == [[0, 1, 2]] * 3
    assert [list(versions.in_release(release)) for release in ((2, 3), (2, 8), (3, 0), (4, 5))] == [
        [],
        [],
        [1, 2, 3, 4],
        [1, 2, 3, 4],
    ]


def test_a_release_before_the_first_entry_does_not_have_the_api() -> None:
    versions = Versions(0, 1, 0, by_release="3.7 0-0, 4.0 0-1")

    assert [list(versions.advertised_in(release)) for release in ((3, 6), (3, 9), (4, 0))] == [[], [0], [0, 1]]


@pytest.mark.parametrize("kind", ["Request", "Response"])
@each_case([api for api in APIS.values() if api.versions.in_release(NEWEST_OF_KIO)], lambda api: str(api.name))
def test_messages_exist_in_every_supported_version(api: Api, kind: str) -> None:
    versions = versions_of(api.name + kind)

    assert {each.module for each in versions} == {api.module}
    assert {each.version for each in versions} >= set(api.versions.in_release(NEWEST_OF_KIO))
    assert min(each.version for each in versions) == api.versions.in_release(NEWEST_OF_KIO)[0]
    assert [each.version >= api.versions.flexible_since for each in versions] == [
        each.entity_class.__flexible__ for each in versions
    ]


def test_only_two_apis_have_no_flexible_version() -> None:
    assert [api.name for api in APIS.values() if api.versions.flexible_since == NEVER_FLEXIBLE] == [
        "SaslHandshake",
        "OffsetDelete",
    ]


def test_every_api_key_has_the_name_of_its_module() -> None:
    assert {key.value: key.name.lower() for key in ApiKey} == dict(api_key_map) | APIS_OF_4_4 | APIS_OF_3_9


def test_error_codes_are_those_of_kafka() -> None:
    of_kio = {int(code): code.name.upper() for code in KioErrorCode}

    assert {code.value: code.name for code in ErrorCode} == of_kio | ERRORS_OF_4_4


@pytest.mark.parametrize(
    ("message", "shown"),
    [("expected 3, got 5", "OUT_OF_ORDER_SEQUENCE_NUMBER: expected 3, got 5"), ("", "OUT_OF_ORDER_SEQUENCE_NUMBER")],
)
def test_text_of_an_error_has_its_name_and_message(message: str, shown: str) -> None:
    error = KafkaError(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, message)

    assert (error.code, error.message, str(error)) == (45, message, shown)


def test_error_code_can_be_a_field_of_a_message() -> None:
    heartbeat: Any = importlib.import_module("fauxka.protocol.messages.heartbeat")
    response = heartbeat.HeartbeatResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
    (version_4,) = (each for each in versions_of("HeartbeatResponse") if each.version == 4)

    assert version_4.encoded(response) == b"\x00\x00\x00\x00\x00\x1b\x00"

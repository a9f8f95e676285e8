"""The table of APIs, compared with a real broker and with the generated messages."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.schema.index import api_key_map

from fauxka.protocol.api_keys import APIS, NEVER_FLEXIBLE, Api, ApiKey
from fauxka.protocol.apis.api import DEFAULT_RELEASE, Release
from fauxka.protocol.error_codes import ErrorCode, KafkaError

from ..each_case import each_case
from .message_catalog import MESSAGE_VERSIONS, MessageVersion

GOLDEN = Path(__file__).parent.parent / "golden"
# The APIs of Kafka 4.4 and their error codes that kio does not have.
APIS_OF_4_4 = {94: "unregister_controller"}
ERRORS_OF_4_4 = {
    134: "GROUP_DELETION_FAILED",
    135: "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED",
    136: "CONTROLLER_ID_NOT_REGISTERED",
}
# What Kafka 4.4 changes of groups of Kafka Streams, which are not served.
STREAMS_KEYS = {ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE, 93}


def versions_of(name: str) -> list[MessageVersion]:
    return [each for each in MESSAGE_VERSIONS if each.name == name]


def advertised(release: Release) -> list[list[int]]:
    served = [(api, api.versions.in_release(release)) for api in APIS.values()]
    return [[api.key, api.versions.first_advertised, versions[-1]] for api, versions in served if versions]


def captured(kafka_version: str) -> list[list[int]]:
    keys: list[list[int]] = json.loads((GOLDEN / f"api_versions-{kafka_version}.json").read_text())["api_keys"]
    return keys


def test_advertised_versions_are_those_of_kafka() -> None:
    assert advertised(DEFAULT_RELEASE) == captured("4.3.0")


def test_versions_of_4_4_are_those_of_kafka_but_for_streams() -> None:
    def without_streams(keys: list[list[int]]) -> list[list[int]]:
        return [each for each in keys if each[0] not in STREAMS_KEYS]

    assert without_streams(advertised((4, 4))) == without_streams(captured("4.4.0"))


def test_releases_before_4_4_have_the_versions_of_4_3() -> None:
    assert {str(advertised(release)) for release in ((2, 1), (3, 9), (4, 2))} == {str(advertised(DEFAULT_RELEASE))}


def test_only_produce_is_advertised_from_an_unsupported_version() -> None:
    assert [api.name for api in APIS.values() if api.versions.first_advertised != api.versions.first] == ["Produce"]


@pytest.mark.parametrize("kind", ["Request", "Response"])
@each_case([api for api in APIS.values() if api.versions.in_release(DEFAULT_RELEASE)], lambda api: str(api.name))
def test_messages_exist_in_every_supported_version(api: Api, kind: str) -> None:
    versions = versions_of(api.name + kind)

    assert {each.module for each in versions} == {api.module}
    assert {each.version for each in versions} >= set(api.versions.in_release(DEFAULT_RELEASE))
    assert min(each.version for each in versions) == api.versions.first
    assert [each.version >= api.versions.flexible_since for each in versions] == [
        each.entity_class.__flexible__ for each in versions
    ]


def test_only_two_apis_have_no_flexible_version() -> None:
    assert [api.name for api in APIS.values() if api.versions.flexible_since == NEVER_FLEXIBLE] == [
        "SaslHandshake",
        "OffsetDelete",
    ]


def test_every_api_key_has_the_name_of_its_module() -> None:
    assert {key.value: key.name.lower() for key in ApiKey} == dict(api_key_map) | APIS_OF_4_4


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

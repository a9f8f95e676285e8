"""Error responses for whole requests, compared with Kafka's byte for byte."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from struct import unpack_from
from typing import Any, cast

import pytest

from fauxka.protocol.api_keys import APIS, Api, ApiKey
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.error_messages import ERROR_MESSAGES, error_message
from fauxka.protocol.errors.response_frames import decode_response_frame
from fauxka.protocol.frames import FrameError
from fauxka.protocol.message import Message
from fauxka.protocol.request_facts import read_request_facts

from ..each_case import each_case
from ..golden.capture_error_answers import RELEASES, file_of
from . import framed_errors as error_responses

CORRELATION_ID = 7
LEADER_NOT_AVAILABLE = 5
UNSUPPORTED_VERSION = 35

# Kafka keeps the partitions of these APIs in hash maps, so their order in the response is undefined. Here it is the
# order of the request.
IN_ANY_ORDER = {"Produce", "WriteTxnMarkers"}
CASES_IN_ANY_ORDER = {"OffsetFetch-0-full"}
# Kafka 3.9.1 has null records in these responses, and since 4.0 empty ones, which has no version of these.
EMPTY_RECORDS_OF = {"Fetch": range(4)}

API_NAMED = {api.name: api for api in APIS.values()}
MUTATIONS = 40

LAST_VERSION_WITHOUT_THROTTLE = {
    "Produce": 0,
    "Fetch": 0,
    "ListOffsets": 1,
    "Metadata": 2,
    "OffsetCommit": 2,
    "OffsetFetch": 2,
    "FindCoordinator": 0,
    "JoinGroup": 1,
    "Heartbeat": 0,
    "LeaveGroup": 0,
    "SyncGroup": 0,
    "DescribeGroups": 0,
    "ListGroups": 0,
    "ApiVersions": 0,
    "CreateTopics": 1,
    "DeleteTopics": 0,
    "OffsetForLeaderEpoch": 1,
}


@dataclass(frozen=True)
class Case:
    """A request, and Kafka's response for each error code: None for no response, a dict for a failure of Kafka."""

    api: Api
    version: int
    sample: str
    body: memoryview
    answers: dict[int, Any]

    def __str__(self) -> str:
        return f"{self.api.name}-{self.version}-{self.sample}"


def cases(kafka_version: str) -> Iterator[Case]:
    with file_of(kafka_version).open() as lines:
        next(lines)
        for line in lines:
            case = json.loads(line)
            answers = {
                int(code): base64.b64decode(frame) if isinstance(frame, str) else frame
                for code, frame in case["answers"].items()
            }
            body = memoryview(base64.b64decode(case["request"]))
            yield Case(API_NAMED[case["api"]], case["version"], case["sample"], body, answers)


CASES = [case for kafka_version in RELEASES for case in cases(kafka_version)]


def in_order(value: object) -> object:
    """Return the content of a response with every list sorted."""
    if isinstance(value, list):
        return sorted((in_order(each) for each in cast("list[object]", value)), key=repr)
    if isinstance(value, Message):
        return [in_order(getattr(value, name)) for name in value.__slots__]
    return value


def with_empty(value: object) -> object:
    """Return the content of a response with empty records in the place of null."""
    if isinstance(value, list):
        return [with_empty(each) for each in cast("list[object]", value)]
    return b"" if value is None else value


@each_case(CASES)
def test_error_response_is_that_of_kafka(case: Case) -> None:
    for code, expected in case.answers.items():
        frame = error_responses.error_response(case.api, case.version, CORRELATION_ID, case.body, code)

        if not isinstance(expected, bytes):
            continue
        if case.api.name in IN_ANY_ORDER or str(case) in CASES_IN_ANY_ORDER:
            assert len(frame) == len(expected)
            assert in_order(decoded(case, frame)) == in_order(decoded(case, expected))
        elif case.version in EMPTY_RECORDS_OF.get(case.api.name, ()):
            assert in_order(decoded(case, frame)) == with_empty(in_order(decoded(case, expected)))
        else:
            assert frame == expected


def decoded(case: Case, frame: bytes | bytearray) -> Any:
    correlation_id, response = decode_response_frame(case.api, case.version, frame)
    assert correlation_id == CORRELATION_ID
    return response


def test_every_api_and_version_is_compared_with_kafka() -> None:
    served = {(api.name, version) for api in APIS.values() for version in api.versions.supported}

    assert {(case.api.name, case.version) for case in CASES if case.sample == "full"} == served


def test_kafka_fails_only_for_known_requests() -> None:
    failed = {str(case) for case in CASES if any(isinstance(frame, dict) for frame in case.answers.values())}

    # Kafka rejects the number 0 for a type in DescribeAcls, and fails for a null list of users in
    # DescribeUserScramCredentials, although its messages allow one. Here both get a normal response.
    assert failed == {
        "DescribeAcls-0-bare",
        "DescribeAcls-1-bare",
        "DescribeAcls-2-bare",
        "DescribeAcls-3-bare",
        "DescribeUserScramCredentials-0-bare",
    }


def test_no_response_is_expected_exactly_where_kafka_sends_none() -> None:
    expected = {str(case): error_responses.expects_response(case.api, case.version, case.body) for case in CASES}

    given = {str(case): None not in case.answers.values() for case in CASES}
    assert expected == given
    assert not all(expected.values())


@pytest.mark.parametrize("kafka_version", list(RELEASES))
def test_error_messages_are_those_of_kafka(kafka_version: str) -> None:
    with file_of(kafka_version).open() as lines:
        messages = json.loads(next(lines))["messages"]

    of_kafka = {ErrorCode(int(code)): text for code, text in messages.items() if text is not None}
    assert {code: error_message(code, RELEASES[kafka_version]) for code in of_kafka} == of_kafka
    assert set(of_kafka) == {code for code in ERROR_MESSAGES if code <= max(of_kafka)}


def test_response_of_version_0_to_a_later_api_versions_is_decoded() -> None:
    api = APIS[ApiKey.API_VERSIONS]
    frame = error_responses.error_response(api, 0, 3, memoryview(b""), UNSUPPORTED_VERSION)

    response: Any = decode_response_frame(api, 5, frame)[1]
    assert [(each.api_key, each.max_version) for each in response.api_keys] == [(ApiKey.API_VERSIONS, 4)]


def test_response_begins_with_its_size_and_correlation_id() -> None:
    for case in CASES:
        frame = error_responses.error_response(case.api, case.version, 2**31 - 1, case.body, 0)

        assert unpack_from(">ii", frame) == (len(frame) - 4, 2**31 - 1)


def test_response_of_code_0_has_no_error_code() -> None:
    for case in CASES:
        frame = error_responses.error_response(case.api, case.version, CORRELATION_ID, case.body, 0)

        assert error_responses.first_error_code(case.api, case.version, frame) == 0


@pytest.mark.parametrize(
    ("code", "changed_in", "before"),
    [
        (ErrorCode.INVALID_RECORD, (2, 5), "This record has failed the validation on broker and hence be rejected."),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, (2, 6), "This server is not the leader for that topic-partition."),
        (ErrorCode.ELECTION_NOT_NEEDED, (2, 6), "Leader election not needed for topic partition"),
        (ErrorCode.SNAPSHOT_NOT_FOUND, (3, 8), "Requested snapshot was not found"),
        (ErrorCode.INVALID_GROUP_ID, (4, 1), "The configured groupId is invalid."),
    ],
)
def test_error_message_is_the_earlier_one_before_the_release_that_changed_it(
    code: ErrorCode, changed_in: tuple[int, int], before: str
) -> None:
    assert error_message(code, (2, 4)) == before
    assert error_message(code, changed_in) == ERROR_MESSAGES[code]


def test_error_code_is_found_at_any_depth_of_the_response() -> None:
    found = {
        str(case)
        for case in CASES
        if case.sample == "full"
        and error_responses.first_error_code(case.api, case.version, failed(case)) == LEADER_NOT_AVAILABLE
    }

    # Up to version 2 DescribeLogDirs has no error code of the response itself.
    without_place = {"DescribeLogDirs-0-full", "DescribeLogDirs-1-full", "DescribeLogDirs-2-full"}
    assert found == {str(case) for case in CASES if case.sample == "full"} - without_place


def failed(case: Case) -> bytearray:
    return error_responses.error_response(case.api, case.version, CORRELATION_ID, case.body, LEADER_NOT_AVAILABLE)


def test_set_throttle_time_changes_no_other_field() -> None:
    for case in CASES:
        plain = failed(case)
        throttled = error_responses.set_throttle_time(case.api, case.version, [plain], 1234)

        assert len(throttled) == len(plain)
        response = decoded(case, throttled)
        if throttled == plain:
            continue
        assert error_responses.has_throttle_time(case.api)
        assert response.throttle_time_ms == 1234
        assert error_responses.set_throttle_time(case.api, case.version, [throttled], 0) == plain


def test_throttle_time_is_omitted_in_versions_without_the_field() -> None:
    unchanged = [
        (case.api.name, case.version)
        for case in CASES
        if case.sample == "full"
        and error_responses.has_throttle_time(case.api)
        and error_responses.set_throttle_time(case.api, case.version, [failed(case)], 1) == failed(case)
    ]

    without = {name: max(version for each, version in unchanged if each == name) for name, _ in unchanged}
    assert without == LAST_VERSION_WITHOUT_THROTTLE
    assert len(unchanged) == sum(
        last - API_NAMED[name].versions.first + 1 for name, last in LAST_VERSION_WITHOUT_THROTTLE.items()
    )


def changed_bodies(case: Case) -> Iterator[memoryview]:
    """Yield the sample's body with a few bytes changed, inserted or deleted."""
    random = Random(str(case))
    for _ in range(MUTATIONS):
        body = bytearray(case.body)
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(body) + 1)
            body[at : at + random.choice((0, 1, 2, 4))] = random.choice((b"\xff", b"\0", b"\x80", random.randbytes(3)))
        yield memoryview(body)


@each_case([case for case in CASES if case.sample == "full"])
def test_changed_body_gives_a_response_or_frame_error(case: Case) -> None:
    for broken in changed_bodies(case):
        with contextlib.suppress(FrameError):
            read_request_facts(case.api, case.version, broken, lambda _: "a")
        with contextlib.suppress(FrameError):
            error_responses.expects_response(case.api, case.version, broken)
        with contextlib.suppress(FrameError):
            error_responses.error_response(case.api, case.version, CORRELATION_ID, broken, LEADER_NOT_AVAILABLE)

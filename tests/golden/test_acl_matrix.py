"""The ACL matrix put to a fauxka with the same authorizer and users: its answers equal Kafka's."""

import json
import tempfile
from collections.abc import Generator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from fauxka.protocol.api_keys import APIS
from fauxka.storage.producers.emulated_version import EmulatedVersion

from ..each_case import each_case
from .acl_brokers import MATRIX_CONFIG_OF, fauxka_with_acls
from .acl_matrix.capture import matrix_of
from .acl_matrix.recorder import AnswerTable, MatrixCapture, line_of
from .acl_matrix.worlds import REQUESTS, World, worlds
from .capture_normal_form import Json
from .captures import golden_file, version_of
from .regenerate import regenerate

FILE = golden_file("acl_matrix")
WORLDS = worlds()
# These need no authorization.
WITHOUT_ACLS = {"ApiVersions", "SaslHandshake", "SaslAuthenticate"}
# These change the quorum or the state of share groups whenever they are allowed. test_acls has them.
OF_TEST_ACLS = {
    "AddRaftVoter",
    "DeleteShareGroupState",
    "InitializeShareGroupState",
    "ReadShareGroupState",
    "ReadShareGroupStateSummary",
    "RemoveRaftVoter",
    "WriteShareGroupState",
}


@cache
def captured() -> tuple[AnswerTable, dict[str, dict[str, Json]]]:
    """Return the different answers to each request, and the lines of the worlds by their names."""
    lines = [json.loads(line) for line in FILE.read_text().splitlines()]
    table = AnswerTable(line for line in lines if "request" in line)
    return table, {line["world"]: line for line in lines if "world" in line}


@pytest.fixture(scope="module")
def captures() -> Generator[dict[str, MatrixCapture], None, None]:
    with ExitStack() as running:
        of_broker: dict[str, MatrixCapture] = {}
        for broker in MATRIX_CONFIG_OF:
            folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
            addresses = running.enter_context(fauxka_with_acls(folder, broker))
            of_broker[broker] = running.enter_context(matrix_of(addresses))
        yield of_broker


def answers_of_kafka(world: World) -> list[Json]:
    """Return the answers to the requests of a world."""
    table, lines = captured()
    numbers = lines[world.name]["answers"]
    assert isinstance(numbers, list)
    return [
        table.answer_of(request.name(version), number)
        for (request, version), number in zip(world.asked, numbers, strict=True)
        if isinstance(number, int)
    ]


@pytest.mark.deep
@each_case(WORLDS, lambda world: world.name)
def test_fauxka_answers_as_kafka_did(world: World, captures: dict[str, MatrixCapture]) -> None:
    names = [request.name(version) for request, version in world.asked]
    answers = zip(names, answers_of_kafka(world), captures[world.broker].run(world), strict=True)

    assert [each for each in answers if each[1] != each[2]] == []


def test_every_world_of_the_seed_is_in_the_golden_file() -> None:
    table, lines = captured()

    assert [lines[world.name] for world in WORLDS] == [
        line_of(world, answers_of_kafka(world), table) for world in WORLDS
    ]


def test_every_api_is_in_the_matrix() -> None:
    asked = {request.api for request in REQUESTS}

    release = EmulatedVersion.parse(version_of("acl_matrix")).release
    of_release = {api.name for api in APIS.values() if api.versions.in_release(release)}
    assert asked | OF_TEST_ACLS | WITHOUT_ACLS == of_release


@pytest.mark.reference
def test_golden_file_equals_what_kafka_returns_today(tmp_path: Path) -> None:
    regenerate("acl_matrix", tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text().splitlines() == FILE.read_text().splitlines()

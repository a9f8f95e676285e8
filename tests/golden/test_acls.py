"""The cases of capture_acls put to a fauxka with the same authorizer and users: its answers equal Kafka's."""

import json
import tempfile
from collections.abc import Generator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from ..each_case import each_case
from .acl_brokers import CONFIG_OF, fauxka_with_acls
from .acl_recorder import AclCapture, AclCase
from .acl_scenes import CASES
from .capture_acls import cases_of
from .captures import golden_file
from .regenerate import regenerate

FILE = golden_file("acls")


@cache
def captured() -> dict[str, str]:
    return {json.loads(line)["case"]: line for line in FILE.read_text().splitlines()}


@pytest.fixture(scope="module")
def captures() -> Generator[dict[str, AclCapture], None, None]:
    with ExitStack() as running:
        of_broker: dict[str, AclCapture] = {}
        for broker in CONFIG_OF:
            folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
            of_broker[broker] = AclCapture(running.enter_context(fauxka_with_acls(folder, broker)))
            running.callback(of_broker[broker].close)
        yield of_broker


@each_case(list(enumerate(CASES, 1)), lambda numbered: numbered[1].name)
def test_fauxka_answers_as_kafka_did(numbered: tuple[int, AclCase], captures: dict[str, AclCapture]) -> None:
    number, case = numbered

    assert captures[case.broker].run(number, case) == json.loads(captured()[case.name])


def test_every_case_is_in_the_golden_file_once() -> None:
    names = [case.name for broker in CONFIG_OF for _, case in cases_of(broker)]

    assert [json.loads(line)["case"] for line in FILE.read_text().splitlines()] == names
    assert len(set(names)) == len(names)


@pytest.mark.reference
def test_golden_file_equals_what_kafka_returns_today(tmp_path: Path) -> None:
    regenerate("acls", tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text().splitlines() == FILE.read_text().splitlines()

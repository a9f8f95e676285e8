"""Scenario files, and invalid ones."""

import pytest

from fauxka.scenarios.scenario import applies_to, is_within
from fauxka.scenarios.scenario_files import (
    ScenarioFileError,
    UnknownScenario,
    load_scenario,
    parse_scenario,
    scenario_names,
)
from fauxka.scenarios.steps import Batch

GOOD = """
title = "t"
story = "s"
[batches]
A = "5..9"
[[steps]]
do = "send"
batches = ["A"]
[[expect]]
log = { 0 = ["A"] }
"""
ALL_CLIENTS = ["raw", "confluent", "aiokafka", "kafka-python", "java"]


@pytest.mark.parametrize("name", scenario_names())
def test_every_client_has_expectations_or_a_reason_why_it_cannot_run(name: str) -> None:
    scenario = load_scenario(name)

    without = [client for client in ALL_CLIENTS if not scenario.expected_of(client, "4.3")]

    assert [client for client in without if client not in scenario.unable] == []


def test_a_file_is_read() -> None:
    scenario = parse_scenario("good", GOOD)

    assert scenario.batches == {"A": Batch("A", 5, 9)}
    assert scenario.batches["A"].count == 5


@pytest.mark.parametrize(
    ("written", "instead", "told"),
    [
        ('title = "t"', "", "title"),
        ('title = "t"', 'title = "t"\ntitel = "t"', "titel"),
        ('do = "send"', 'do = "sned"', "sned"),
        ('A = "5..9"', 'A = "5-9"', "114..120"),
        ('A = "5..9"', 'A = "5..2147483648"', "2147483647"),
        ('batches = ["A"]', 'batches = ["B"]', "unknown batch B"),
        ("log = ", "lug = ", "lug"),
        ("[batches]", "[batches", "Expected"),
        ('title = "t"', 'title = "t"\nnodes = 0', "Expected `int` >= 1 - at `$.nodes`"),
        ('title = "t"', 'title = "t"\nnodes = 17', "Expected `int` <= 16 - at `$.nodes`"),
        ('title = "t"', 'title = "t"\nnodes = 3\non_disk = true', "on_disk runs one node, not 3"),
        ('title = "t"', 'title = "t"\nnodes = 3\nlogin = "PLAIN"', "login runs one node in memory"),
        ('title = "t"', 'title = "t"\ntls = true\nlogin = "PLAIN"', "tls runs without a login"),
        ('title = "t"', 'title = "t"\nlogin = "GSSAPI"', "Invalid enum value 'GSSAPI'"),
        ('title = "t"', 'title = "t"\nallowed = ["READ"]', "need a login"),
        (
            'title = "t"',
            'title = "t"\nlogin = "PLAIN"\ntoken_ms = 9',
            "token_ms 9 needs the login OAUTHBEARER, and not PLAIN",
        ),
        ('title = "t"', 'title = "t"\ntoken_ms = 9', "token_ms 9 needs the login OAUTHBEARER, and not none"),
    ],
)
def test_invalid_scenario_is_refused_with_file_and_place(written: str, instead: str, told: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        parse_scenario("bad", GOOD.replace(written, instead))

    assert str(refused.value).startswith("bad.toml: ")
    assert told in str(refused.value)


def test_an_unknown_name_is_refused_with_the_known_names() -> None:
    with pytest.raises(UnknownScenario, match="lost-ack, lost-request"):
        load_scenario("lost-akc")


def test_a_batch_may_wrap_its_sequences() -> None:
    assert Batch("A", 2147483641, 2).count == 10


def test_real_means_all_but_the_raw_client() -> None:
    assert [client for client in ALL_CLIENTS if applies_to(["real"], client)] == ALL_CLIENTS[1:]
    assert applies_to([], "raw")


def test_a_range_of_versions_has_both_ends() -> None:
    versions = ["0.11", "1.0", "2.4", "2.5", "4.3.0"]

    assert [version for version in versions if is_within("1.0..2.4", version)] == ["1.0", "2.4"]

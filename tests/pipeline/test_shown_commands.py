"""The command that shows more of a group of findings: its source, its places, its quoting."""

import os
import shlex
from dataclasses import replace

from fauxka.pipeline.report.shown_commands import command_for, source_words
from fauxka.pipeline.report.summary import Example, FindingGroup, RunCommands

COPY = Example("orders", 0, 7, 3, 5, 0, 7, "e-1", 1, None, "as seq 7")
RUN = RunCommands(("--path", "/data"), again=("fauxka", "audit", "--path", "data"))


def group(*examples: Example, check: str = "event", kind: str = "duplicate") -> FindingGroup:
    return FindingGroup(check, kind, None, True, len(examples), len(examples), examples)


def test_a_finding_shows_its_record_and_the_one_that_it_was_compared_with() -> None:
    assert command_for(group(COPY), RUN) == "fauxka records --path /data --at orders-0:7 --at orders-0:3"


def test_the_first_copy_can_be_in_another_partition() -> None:
    elsewhere = replace(COPY, other_partition=2)

    assert command_for(group(elsewhere), RUN) == "fauxka records --path /data --at orders-0:7 --at orders-2:3"


def test_an_offset_is_shown_once() -> None:
    assert command_for(group(replace(COPY, other_offset=7)), RUN) == "fauxka records --path /data --at orders-0:7"


def test_the_other_offset_of_a_comparison_is_one_of_the_other_side() -> None:
    command = command_for(group(COPY, check="compare", kind="duplicated"), RUN)

    assert command == "fauxka records --path /data --at orders-0:7"


def test_the_first_example_with_a_place_is_shown() -> None:
    assert command_for(group(replace(COPY, offset=None), COPY), RUN) == command_for(group(COPY), RUN)


def test_a_finding_without_a_place_repeats_the_run_with_all_findings() -> None:
    topic = replace(COPY, partition=None, offset=None)

    assert command_for(group(topic), RUN) == "fauxka audit --path data --json -"
    assert command_for(group(topic), RunCommands(RUN.log)) is None


def test_a_finding_of_a_table_repeats_the_run() -> None:
    run = RunCommands(again=("fauxka", "compare", "a", "b"))

    assert command_for(group(COPY, check="compare", kind="extra"), run) == "fauxka compare a b --json -"


def test_a_finding_of_the_log_is_shown_in_each_replica() -> None:
    # No options: of a replica with a secret in its address.
    run = replace(RUN, replicas=(("--path", "/b"), (), ("--path", "/c")))
    other = replace(COPY, other_offset=None)

    assert command_for(group(other, check="log", kind="replica_divergence"), run) == (
        "fauxka records --path /data --at orders-0:7 && fauxka records --path /b --at orders-0:7"
        " && fauxka records --path /c --at orders-0:7"
    )


def test_text_of_the_log_is_one_word_of_a_shell() -> None:
    hostile = "a; rm -rf $HOME `id` '\"\n&& x"
    command = command_for(group(replace(COPY, topic=hostile, other_offset=None)), RUN)

    assert command is not None
    assert shlex.split(command) == ["fauxka", "records", "--path", "/data", "--at", f"{hostile}-0:7"]


def test_the_source_is_that_of_the_run() -> None:
    files = {"path": "kafka-data", "tier": "s3://bucket/tier", "topics": "orders", "splitBytes": "9"}
    broker = {"bootstrap": "a:1,b:2", "commandConfig": "/etc/client.properties", "storageAttempts": "3"}

    assert source_words(files) == ("--path", os.path.abspath("kafka-data"), "--tier", "s3://bucket/tier")
    assert source_words(broker) == (
        *("--bootstrap", "a:1,b:2", "--command-config", "/etc/client.properties", "--storage-attempts", "3"),
    )


def test_paths_of_the_source_are_absolute() -> None:
    given = {"path": "file:/data", "tier": "FILE:///tier", "commandConfig": "client.properties"}

    assert source_words(given) == (
        *("--path", "/data", "--tier", "/tier", "--command-config", os.path.abspath("client.properties")),
    )
    assert source_words({"path": "file:data"}) == ("--path", os.path.abspath("data"))


def test_a_source_with_a_secret_is_not_shown() -> None:
    assert source_words({"bootstrap": "a:1", "kafka.sasl.jaas.config": "password=secret"}) == ()
    assert source_words({"bootstrap": "a:1", "Kafka.ssl.key.password": "secret"}) == ()
    assert source_words({"path": "s3://key:secret@bucket/log"}) == ()

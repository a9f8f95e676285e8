"""File fault rules: matching, counts and validation."""

from typing import Any

import pytest

from fauxka.broker.metadata.metadata_fields import METADATA_FILE
from fauxka.faults.files.file_kinds import METADATA_FILES, file_kind_of
from fauxka.faults.files.file_rules import FileRule
from fauxka.faults.files.operation_kind import OperationKind
from fauxka.faults.rule_error import RuleError
from fauxka.faults.rules.fault_rules import When
from fauxka.faults.rules.match import Pattern
from fauxka.faults.rules.near_misses import NearMiss
from fauxka.faults.rules.rule_list import RULES_MAX

from .fault_injecting_files import LOG, SNAPSHOT, FaultInjectingFiles
from .posted_rules import decode_file_rule


def hits(rule: FileRule, *operations: tuple[OperationKind, str]) -> list[bool]:
    """Return for each operation whether the rule hits it."""
    files = FaultInjectingFiles()
    files.add(rule)
    return [files.faults.decide(kind, path) is not None for kind, path in operations]


WRITE, SYNC, RENAME = OperationKind.WRITE, OperationKind.SYNC, OperationKind.RENAME


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (LOG, "log"),
        ("t-0/00000000000000000000.index", "index"),
        ("t-0/00000000000000000000.timeindex", "timeindex"),
        ("t-0/00000000000000000000.txnindex", "txnindex"),
        (SNAPSHOT, "snapshot"),
        ("t-0/00000000000000000000.log.deleted", "log"),
        ("t-0/leader-epoch-checkpoint", "checkpoint"),
        ("recovery-point-offset-checkpoint", "checkpoint"),
        ("t-0/partition.metadata", "metadata"),
        ("meta.properties", "metadata"),
        ("cluster-metadata.json", "metadata"),
        (".kafka_cleanshutdown", None),
        ("t-0/", None),
        ("00000000000000000000", None),
    ],
)
def test_file_kind_follows_from_the_name(path: str, kind: str | None) -> None:
    assert file_kind_of(path) == kind


def test_metadata_file_of_the_broker_is_known() -> None:
    assert METADATA_FILE in METADATA_FILES


def test_rule_without_conditions_matches_all_operations_of_its_action() -> None:
    when = When(times=None)

    assert hits(FileRule(action="fail", when=when), (WRITE, LOG), (SYNC, SNAPSHOT), (RENAME, "a")) == [True] * 3
    assert hits(FileRule(action="corrupt", when=when), (WRITE, LOG), (SYNC, LOG), (RENAME, LOG)) == [True, False, False]


def test_list_of_operations_means_any_of_them() -> None:
    rule = FileRule(action="fail", operation=["fsync", "rename"], when=When(times=None))

    assert hits(rule, (WRITE, LOG), (SYNC, LOG), (RENAME, LOG)) == [False, True, True]


def test_folder_kind_and_path_must_all_match() -> None:
    rule = FileRule(
        action="fail", folder=Pattern("orders-.*"), file_kind="log", path=Pattern(".*0000.log"), when=When(times=None)
    )

    assert hits(rule, (WRITE, LOG), (WRITE, SNAPSHOT), (WRITE, "users-0/00000000000000000000.log")) == [
        True,
        False,
        False,
    ]


def test_empty_text_is_the_top_folder() -> None:
    rule = FileRule(action="fail", folder="", when=When(times=None))

    assert hits(rule, (WRITE, "meta.properties"), (WRITE, LOG), (OperationKind.SYNC_FOLDER, "/")) == [True, False, True]


def test_nth_operation_is_hit() -> None:
    rule = FileRule(action="fail", when=When(skip=1, every=2, times=2))

    assert hits(rule, *[(WRITE, LOG)] * 7) == [False, True, False, True, False, False, False]


def test_default_is_one_hit_and_no_limit_for_a_full_disk() -> None:
    writes = [(WRITE, LOG)] * 3

    assert hits(FileRule(action="fail"), *writes) == [True, False, False]
    assert hits(FileRule(action="disk_full"), *writes) == [True] * 3
    assert hits(FileRule(action="read_only", when=When(skip=1)), *writes) == [False, True, True]
    assert hits(FileRule(action="disk_full", when=When(times=2)), *writes) == [True, True, False]


def test_same_seed_hits_the_same_operations() -> None:
    rule = FileRule(action="fail", when=When(times=None, probability=0.5, seed=7))
    writes = [(WRITE, LOG)] * 50

    assert hits(rule, *writes) == hits(rule, *writes)
    assert len(set(hits(rule, *writes))) == 2


def test_rule_has_counts_and_last_hit() -> None:
    files = FaultInjectingFiles()
    armed = files.add(FileRule(action="slow", ms=1, when=When(skip=1, times=2)))

    files.append()
    files.now_ms = 2000
    files.append()

    assert (armed.id, armed.matched, armed.hits, armed.remaining, armed.last_hit_ms) == (1, 2, 1, 1, 2000)


def test_hit_callback_of_a_file_rule_is_called() -> None:
    files = FaultInjectingFiles()
    armed = files.add(FileRule(action="slow", ms=1, when=When(times=2)))
    hits_seen: list[int] = []
    armed.when_hits(2, lambda: hits_seen.append(armed.hits))

    files.append()
    assert hits_seen == []
    files.append()

    assert hits_seen == [2]


def test_near_misses_have_the_first_mismatch() -> None:
    files = FaultInjectingFiles()
    armed = files.add(FileRule(action="fail", operation="fsync", folder="orders-0", file_kind="log"))

    files.append()
    files.append()
    files.faults.decide(SYNC, SNAPSHOT)
    files.faults.decide(SYNC, "orders-1/00000000000000000000.log")

    assert armed.near_misses == [
        NearMiss("folder", "orders-0", "orders-1", 1, "first differed at folder: orders-1, not orders-0"),
        NearMiss("file_kind", "log", "snapshot", 1, "first differed at file_kind: snapshot, not log"),
        NearMiss("operation", "fsync", "write", 2, "first differed at operation: write, not fsync"),
    ]


def test_first_hit_of_file_rules_ends_the_search() -> None:
    files = FaultInjectingFiles()
    first = files.add(FileRule(action="slow", ms=1))
    second = files.add(FileRule(action="fail"))

    files.append()
    with pytest.raises(OSError):
        files.append()

    assert (first.matched, first.hits, second.matched, second.hits) == (2, 1, 1, 1)


def test_file_rule_is_inserted_replaced_and_removed() -> None:
    files = FaultInjectingFiles()
    plan = files.faults.plan
    plan.add(FileRule(action="fail"))
    plan.add(FileRule(action="slow", ms=1), position=0)

    plan.replace(1, FileRule(action="disk_full"))
    plan.remove(2)

    assert [(armed.id, armed.rule.action) for armed in plan.rules] == [(1, "disk_full")]
    with pytest.raises(KeyError):
        plan.remove(2)


def test_number_of_file_rules_is_limited() -> None:
    files = FaultInjectingFiles()
    for _ in range(RULES_MAX):
        files.add(FileRule(action="fail"))

    with pytest.raises(RuleError):
        files.add(FileRule(action="fail"))


@pytest.mark.parametrize(
    ("fields", "field", "allowed"),
    [
        ({"action": "tear", "bytes": 1, "operation": "fsync"}, "operation", "write"),
        ({"action": "corrupt", "operation": ["write", "rename"]}, "operation", "write"),
        ({"action": "disk_full", "operation": "rename"}, "operation", "write"),
        ({"action": "read_only", "operation": "fsync"}, "operation", "write or rename"),
        ({"action": "tear"}, "bytes", "integer >= 0"),
        ({"action": "corrupt", "bytes": 0}, "bytes", "integer >= 1"),
        ({"action": "fail", "bytes": 3}, "bytes", "nothing"),
        ({"action": "slow"}, "ms", "integer >= 1"),
        ({"action": "lose", "ms": 3}, "ms", "nothing"),
        ({"action": "fail", "crash": {}}, "crash", "nothing"),
        (
            {"action": "fail", "path": {"regex": "("}},
            "path.regex",
            "a regular expression of RE2, which has no lookaround and no backreference",
        ),
        ({"action": "fail", "path": LOG, "folder": "users-0"}, "folder", "'orders-0'"),
        ({"action": "fail", "path": LOG, "file_kind": "index"}, "file_kind", "log"),
        ({"action": "fail", "path": LOG, "file_kind": ["index", "snapshot"]}, "file_kind", "log"),
        ({"action": "fail", "path": LOG, "folder": {"regex": "users-.*"}}, "folder", "'orders-0'"),
        ({"action": "fail", "folder": "", "file_kind": ["log", "index"]}, "file_kind", "checkpoint or metadata"),
        ({"action": "fail", "when": {"after_ms": 5, "until_ms": 5}}, "when.until_ms", "integer >= 6"),
    ],
)
def test_file_rule_without_effect_is_rejected(fields: dict[str, Any], field: str, allowed: str) -> None:
    import msgspec

    with pytest.raises(RuleError) as refused:
        decode_file_rule(msgspec.json.encode(fields))

    assert (refused.value.field, refused.value.allowed) == (field, allowed)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (b'{"action": "break"}', "action"),
        (b'{"action": "fail", "operation": "read"}', "operation"),
        (b'{"action": "fail", "kind": "log"}', "kind"),
        (b'{"action": "tear", "bytes": -1}', "bytes"),
        (b"{}", "action"),
    ],
)
def test_invalid_json_of_a_file_rule_is_rejected(text: bytes, field: str) -> None:
    with pytest.raises(RuleError) as refused:
        decode_file_rule(text)

    assert refused.value.field == field


def test_documented_file_rule_is_valid() -> None:
    rule = decode_file_rule(
        b'{"operation": "write", "path": {"regex": "orders-0/.*"}, "action": "tear", "bytes": 30,'
        b' "when": {"skip": 2}, "crash": {"restart_after_ms": 100}}'
    )

    assert (rule.operations, rule.path, rule.bytes) == (("write",), Pattern("orders-0/.*"), 30)
    assert rule.crash is not None and rule.crash.restart_after_ms == 100

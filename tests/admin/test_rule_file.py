"""Files of fault rules, and a broker that starts with one."""

import signal
from pathlib import Path

import pytest

from fauxka.admin.rule_file import RuleFileError, read_rule_file
from fauxka.faults.actions import Close, Crash, Delay
from fauxka.faults.rules.fault_rules import When
from fauxka.faults.rules.match import Match

from ..serving_process import run, serving, stop
from .admin_client import AdminClient

TOML = """
[[rules]]
name = "lose two acknowledgements"
match = { api = "Produce", topic = "orders", partition = 0 }
when = { times = 2 }
point = "applied"
action = { kind = "close" }

[[rules]]
point = "received"
when = { times = inf }
action = { kind = "delay", ms = 100 }
"""
CLOSE = '{"point": "received", "action": {"kind": "close"}}'
REFUSED = [
    (
        "rules.json",
        f'[{CLOSE}, {{"point": "received", "action": {{"kind": "truncate", "bytes": 4}}}}]',
        "rule 2: truncate",
    ),
    ("rules.json", '{"rules": [{"point": "soon", "action": {"kind": "close"}}]}', "rule 1: point cannot be "),
    ("rules.toml", '[[rules]]\npoint = "applied"', 'rule 1: "action" is missing'),
    (
        "rules.toml",
        '[[rules]]\npoint = "applied"\naction = {kind="close"}\nmatch = {partition = "x"}',
        'rule 1: match.partition cannot be "x"',
    ),
    ("rules.json", "[1]", "rule 1: the rule cannot be 1"),
    ("rules.json", '{"rules": 3}', "rules is not a list of rules"),
    ("rules.json", '{"rules": [], "rool": 1}', "rool is not a known field next to rules"),
    ("rules.json", '"close"', "expected a list of rules"),
    ("rules.json", "[", "the file is not JSON"),
    ("rules.toml", "[", "the file is not TOML"),
    ("rules.toml", b"\xff", "the file is not TOML"),
    ("rules.toml", f"a = {'1' * 5000}", "the file is not TOML"),
    ("rules.toml", f"a = {'[' * 5000}", "the file is nested too deeply"),
]


@pytest.mark.parametrize("name", ["rules.toml", "RULES.TOML"])
def test_rules_are_read_from_toml_and_inf_is_no_limit(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TOML)

    first, second = read_rule_file(str(tmp_path / name))

    assert first.name == "lose two acknowledgements"
    assert (first.match, first.when) == (Match(api="Produce", topic="orders", partition=0), When(times=2))
    assert (second.when, second.action) == (When(times=None), Delay(ms=100))


@pytest.mark.parametrize(
    "content", [f"[{CLOSE}]", f'{{"rules": [{CLOSE}]}}', f'{{"items": [{CLOSE}], "next": null}}', CLOSE]
)
def test_rules_are_read_from_json(tmp_path: Path, content: str) -> None:
    (tmp_path / "rules.json").write_text(content)

    assert [rule.action for rule in read_rule_file(str(tmp_path / "rules.json"))] == [Close()]


def test_a_rule_in_the_form_of_a_response_is_read(tmp_path: Path) -> None:
    response = '{"id": 1, "hits": 3, "matched": 3, "remaining": 0, "last_hit_ms": 5, "near_misses": [],'
    (tmp_path / "rules.json").write_text(f"[{response}{CLOSE[1:]}]")

    assert [rule.action for rule in read_rule_file(str(tmp_path / "rules.json"))] == [Close()]


def test_null_is_allowed_where_the_field_allows_it(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text('point = "applied"\naction = { kind = "crash", restart_after_ms = inf }')

    assert [rule.action for rule in read_rule_file(str(tmp_path / "rules.toml"))] == [Crash(restart_after_ms=None)]


@pytest.mark.parametrize(("name", "content", "reason"), REFUSED)
def test_invalid_file_is_refused_with_path_rule_and_field(
    tmp_path: Path, name: str, content: str | bytes, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(RuleFileError) as refused:
        read_rule_file(str(path))

    assert str(refused.value).startswith(f"{path}: {reason}")


def test_too_many_rules_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text(f"[{', '.join([CLOSE] * 1001)}]")

    with pytest.raises(RuleFileError, match="has 1001 rules; at most 1000 are allowed"):
        read_rule_file(str(tmp_path / "rules.json"))


def test_serve_starts_with_the_rules_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(TOML)

    with serving(tmp_path, "--rules", str(tmp_path / "rules.toml"), "--admin-port", "0") as broker:
        rules = AdminClient(broker.admin or "").get("/v1/rules")["items"]

    assert [(rule["id"], rule["name"], rule["remaining"]) for rule in rules] == [
        (1, "lose two acknowledgements", 2),
        (2, "", None),
    ]


def test_rules_of_a_file_act_without_an_admin_api(tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text('{"point": "accepted", "when": {"times": null}, "action": {"kind": "close"}}')

    with serving(tmp_path, "--rules", str(tmp_path / "rules.json"), "--admin-port", "off") as broker:
        ended = run("health", "--port", str(broker.port))

    assert ended.exit_code == 1


@pytest.mark.processes
@pytest.mark.parametrize("scope", ["faults", "all"])
def test_reset_of_the_faults_adds_the_rules_of_the_file_again(tmp_path: Path, scope: str) -> None:
    (tmp_path / "rules.json").write_text('{"name": "first", "point": "accepted", "action": {"kind": "close"}}')

    with serving(tmp_path, "--rules", str(tmp_path / "rules.json"), "--admin-port", "0") as broker:
        run("health", "--port", str(broker.port))
        admin = AdminClient(broker.admin or "")
        admin.post("/v1/rules", {"name": "added", "point": "received", "action": {"kind": "observe"}})
        before = [(rule["name"], rule["hits"]) for rule in admin.get("/v1/rules")["items"]]
        admin.post("/v1/reset", {"scope": scope})
        after = [(rule["name"], rule["hits"]) for rule in admin.get("/v1/rules")["items"]]

    assert before == [("first", 1), ("added", 0)]
    assert after == [("first", 0)]


@pytest.mark.processes
@pytest.mark.parametrize("scope", ["journal", "data"])
def test_another_reset_keeps_the_rules(tmp_path: Path, scope: str) -> None:
    (tmp_path / "rules.json").write_text(CLOSE)

    with serving(tmp_path, "--rules", str(tmp_path / "rules.json"), "--admin-port", "0") as broker:
        admin = AdminClient(broker.admin or "")
        admin.post("/v1/reset", {"scope": scope})
        rules = admin.get("/v1/rules")["items"]

    assert [rule["id"] for rule in rules] == [1]


def test_invalid_rule_stops_the_start_with_one_line_and_exit_code_2(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(TOML.replace("ms = 100", "ms = -1"))

    ended = run("serve", "--port", "0", "--rules", str(path))

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.startswith(f"fauxka: --rules: {path}: rule 2: action.ms cannot be -1; allowed: integer ")
    assert ended.log.count("\n") == 1


def test_listed_rules_are_a_file_of_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(TOML)
    with serving(tmp_path, "--rules", str(tmp_path / "rules.toml"), "--admin-port", "0") as broker:
        listed = run("fault", "list", "--json", "--ready-file", str(broker.ready_file)).output
        stop(broker, signal.SIGTERM)
    (tmp_path / "listed.json").write_text(listed)

    assert read_rule_file(str(tmp_path / "listed.json")) == read_rule_file(str(tmp_path / "rules.toml"))

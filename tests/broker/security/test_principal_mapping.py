"""ssl.principal.mapping.rules: principal_mapping_4.3.0.jsonl was printed by programs/PrincipalMapping.java."""

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError

from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.security.tls.principal_mapping import NoPrincipalError, PrincipalMapping

from ...serving_process import run
from .tls_clients import REFUSED_MS, error_of_a_write, mutual_tls

CAPTURED = Path(__file__).parent.parent / "principal_mapping_4.3.0.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in CAPTURED.read_text().splitlines()]


def outcome(case: dict[str, Any]) -> str | None:
    """Return the principal; None for rules without one for the name, and for invalid rules."""
    try:
        return PrincipalMapping(case["rules"]).principal_of(case.get("name", ""))
    except (ConfigError, NoPrincipalError):
        return None


def test_principals_are_those_of_kafka() -> None:
    assert [(case, outcome(case)) for case in CASES] == [(case, case.get("principal")) for case in CASES]


@pytest.mark.parametrize("rules", dict.fromkeys(case["rules"] for case in CASES if "name" not in case))
def test_rules_that_kafka_refuses_are_refused_at_the_start(rules: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^ssl\.principal\.mapping\.rules: .*; allowed: DEFAULT, RULE:pattern"
    ) as refused:
        PrincipalMapping(rules)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("rules", dict.fromkeys(case["rules"] for case in CASES if "name" in case))
def test_rules_that_kafka_takes_are_taken(rules: str) -> None:
    PrincipalMapping(rules)


def test_pattern_that_re2_does_not_have_is_refused_with_its_reason() -> None:
    with pytest.raises(ConfigError, match=r"cannot be used: invalid perl operator"):
        PrincipalMapping("RULE:^(?=CN)(.*)$/$1/")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?i)^cn=j\u00fcrgen", r"(?i) is possible with characters of ASCII only, and without \x and \p"),
        (r"(?i)^cn=j\x{fc}rgen", r"(?i) is possible with characters of ASCII only, and without \x and \p"),
        (r"(?i)^cn=\p{L}", r"(?i) is possible with characters of ASCII only, and without \x and \p"),
        ("[[:alpha:]]", "'[' in a class: Java reads it in another way"),
        ("[a-c&&[b]]", "'&&' in a class: Java reads it in another way"),
        ("[]a]", "']' in a class: Java reads it in another way"),
        ("[^]a]", "']' in a class: Java reads it in another way"),
        (r"[\Qa\E]", r"'\\Qa\\E' in a class: Java reads it in another way"),
        (r"(a)\1", r"\1: Java reads it in another way"),
        (r"\v", r"\v: Java reads it in another way"),
        (r"\C", r"\C: Java reads it in another way"),
        ("(?m)^a$", "(?m): allowed are i, and s at the start of the whole expression"),
        ("(?U)a+", "(?U): allowed are i, and s at the start of the whole expression"),
        ("a(?s:.)", "(?s:: allowed are i, and s at the start of the whole expression"),
        ("a(?s).", "(?s): allowed are i, and s at the start of the whole expression"),
    ],
)
def test_pattern_that_re2_reads_in_another_way_than_java_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(ConfigError) as refused:
        PrincipalMapping(f"RULE:{pattern}/x/")

    assert f"cannot be used: {reason}; allowed: DEFAULT" in str(refused.value)


def test_name_that_ends_with_a_line_terminator_has_no_principal_by_a_pattern_with_an_end() -> None:
    with pytest.raises(NoPrincipalError, match="the name ends with a line terminator"):
        PrincipalMapping("RULE:^([^,]*?)$/$1-/").principal_of("CN=a\n")


def test_nested_repetition_takes_no_time() -> None:
    mapping = PrincipalMapping("RULE:^(CN=(a+)+)$/$1/")

    with pytest.raises(NoPrincipalError):
        mapping.principal_of("CN=" + "a" * 5000 + "!")


def test_client_has_the_rights_of_its_mapped_principal(tmp_path: Path) -> None:
    with mutual_tls(tmp_path, "RULE:^CN=([^,]*),.*$/$1/U", "FAUXKA-CLIENT") as broker:
        assert error_of_a_write(broker, tmp_path) is None


def test_client_without_a_mapping_has_the_name_of_its_certificate(tmp_path: Path) -> None:
    with mutual_tls(tmp_path, "DEFAULT", "FAUXKA-CLIENT") as broker:
        assert error_of_a_write(broker, tmp_path) == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_connection_without_a_principal_is_closed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with mutual_tls(tmp_path, "RULE:^CN=nobody$/x/", "x") as broker:
        assert error_of_a_write(broker, tmp_path, timeout_ms=REFUSED_MS) == KafkaError._MSG_TIMED_OUT

    assert "no rule of ssl.principal.mapping.rules=RULE:^CN=nobody$/x/ applies to 'CN=fauxka-client," in caplog.text


def test_invalid_rule_of_a_listener_is_one_line_and_exit_code_2() -> None:
    ended = run(
        "serve", "--listener", "SSL", "--port", "0", "-c", "listener.name.ssl.ssl.principal.mapping.rules=RULE:a/b"
    )

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.count("\n") == 1
    assert "ssl.principal.mapping.rules: 'RULE:a/b': unexpected 'RULE:a/b'; allowed: DEFAULT, RULE:pattern" in ended.log

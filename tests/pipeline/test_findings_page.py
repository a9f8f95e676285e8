"""docs/findings.md names every column, and every kind and cause of the audits of headers and records."""

import re
from pathlib import Path

import pytest

from fauxka.pipeline.checks.finding_kinds import ALL_KINDS, FINDING_KINDS, Check, advice_of

ROOT = Path(__file__).parents[2]
PAGE = set(re.findall(r"`([^`\n]+)`", (ROOT / "docs" / "findings.md").read_text()))


def text_of(module: str, folder: str = "checks") -> str:
    return (ROOT / "pipeline" / folder / f"{module}.py").read_text()


def test_the_page_names_every_column() -> None:
    columns = set(re.findall(r'^    "(\w+)": "\w+",$', text_of("findings"), re.MULTILINE))

    assert "producer_epoch" in columns
    assert columns - PAGE == set()


def test_the_page_names_every_kind() -> None:
    kinds = set(re.findall(r'Rule\("\w+", "(\w+)"', text_of("sequence_audit")))
    kinds |= set(re.findall(r'^[A-Z]\w+ = "(\w+)"$', text_of("event_audit"), re.MULTILINE))

    assert {"gap", "duplicate"} <= kinds
    assert kinds - PAGE == set()


def test_the_list_of_kinds_is_that_of_the_tables() -> None:
    """Each table has its kinds in the last column of names before the text."""
    page = (ROOT / "docs" / "findings.md").read_text()
    tables = set(re.findall(r"^\| (?:\w+ \| )?`([a-z_]+)` \| [A-Z]", page, re.MULTILINE)) & PAGE

    assert {kind for kinds in FINDING_KINDS.values() for kind in kinds} <= PAGE
    for check, kinds in FINDING_KINDS.items():
        if check in ("sequence", "log"):
            assert set(re.findall(rf"^\| {check} \| `(\w+)`", page, re.MULTILINE)) == set(kinds)
        if check in ("ledger", "compare"):
            assert set(kinds) <= tables


def causes_of_copies() -> set[str]:
    return set(re.findall(r'(?:when|otherwise)\(.*"(\w+)"\)$', text_of("event_audit"), re.MULTILINE))


def causes_of_a_comparison() -> set[str]:
    names = re.findall(r"^[A-Z_, ]+ = (.*)$", text_of("verdicts", "compare"), re.MULTILINE)
    causes = {name for line in names for name in re.findall(r'"(\w+)"', line)}
    of_copies = text_of("copies", "compare").partition("def _cause")[2].partition("def ")[0]
    return causes | set(re.findall(r'"(\w+_\w+)"', of_copies))


def test_the_page_names_every_cause() -> None:
    causes = causes_of_copies() | set(re.findall(r'^    ".*": "(\w+)",$', text_of("sequence_audit"), re.MULTILINE))

    assert {"sent_again", "wrong_crc"} <= causes
    assert causes - PAGE == set()


def test_the_page_names_every_cause_of_a_comparison() -> None:
    causes = causes_of_a_comparison()

    assert {"retention", "beyond_end", "written_twice"} <= causes
    assert causes - PAGE - {"compare"} == set()


# -- Advice


def test_each_cause_of_a_copy_has_advice_of_its_own() -> None:
    copies = FINDING_KINDS["event"]["duplicate"].causes

    assert set(copies) == causes_of_copies()
    assert set(FINDING_KINDS["compare"]["duplicated"].causes) == {*copies, "written_twice", "sent_twice"}


@pytest.mark.parametrize(("check", "kind"), [(check, kind) for check, kinds in FINDING_KINDS.items() for kind in kinds])
def test_each_kind_has_a_sentence_of_advice(check: Check, kind: str) -> None:
    """Each advice is whole sentences of 30 words at most, and each cause is one that the page names."""
    found = FINDING_KINDS[check][kind]

    assert set(found.causes) <= PAGE
    for advice in (found.advice, *found.causes.values()):
        assert re.fullmatch(r"[A-Z][^\n]{20,}\.", advice), advice
        assert len(advice.split()) <= 30, advice


def test_a_kind_is_a_fault_in_each_check_or_in_none() -> None:
    for kind in ALL_KINDS:
        assert len({kinds[kind].is_fault for kinds in FINDING_KINDS.values() if kind in kinds}) == 1, kind


def test_a_cause_without_advice_of_its_own_has_that_of_its_kind() -> None:
    damaged = FINDING_KINDS["log"]["damaged_batch"]

    assert advice_of("log", "damaged_batch", "cut_off") == damaged.causes["cut_off"] != damaged.advice
    assert advice_of("log", "damaged_batch", "wrong_crc") == advice_of("log", "damaged_batch", None) == damaged.advice
    with pytest.raises(KeyError):
        advice_of("log", "new_kind", None)

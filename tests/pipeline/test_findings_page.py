"""docs/findings.md names every column, and every kind and cause of the audits of headers and records."""

import re
from pathlib import Path

from fauxka.pipeline.checks.finding_kinds import KINDS_OF_CHECKS

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

    assert {kind for kinds in KINDS_OF_CHECKS.values() for kind in kinds} <= PAGE
    for check, kinds in KINDS_OF_CHECKS.items():
        if check in ("sequence", "log"):
            assert set(re.findall(rf"^\| {check} \| `(\w+)`", page, re.MULTILINE)) == set(kinds)
        if check in ("ledger", "compare"):
            assert set(kinds) <= tables


def test_the_page_names_every_cause() -> None:
    causes = set(re.findall(r'(?:when|otherwise)\(.*"(\w+)"\)$', text_of("event_audit"), re.MULTILINE))
    causes |= set(re.findall(r'^    ".*": "(\w+)",$', text_of("sequence_audit"), re.MULTILINE))

    assert {"sent_again", "wrong_crc"} <= causes
    assert causes - PAGE == set()


def test_the_page_names_every_cause_of_a_comparison() -> None:
    names = re.findall(r"^[A-Z_, ]+ = (.*)$", text_of("verdicts", "compare"), re.MULTILINE)
    causes = {name for line in names for name in re.findall(r'"(\w+)"', line)}
    causes |= set(
        re.findall(r'"(\w+_\w+)"', text_of("copies", "compare").partition("def _cause")[2].partition("def ")[0])
    )

    assert {"retention", "beyond_end", "written_twice"} <= causes
    assert causes - PAGE - {"compare"} == set()

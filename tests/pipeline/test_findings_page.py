"""docs/findings.md names every column, and every kind and cause of the audits of headers and records."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = set(re.findall(r"`([^`\n]+)`", (ROOT / "docs" / "findings.md").read_text()))


def text_of(module: str) -> str:
    return (ROOT / "pipeline" / "checks" / f"{module}.py").read_text()


def test_the_page_names_every_column() -> None:
    columns = set(re.findall(r'^    "(\w+)": "\w+",$', text_of("findings"), re.MULTILINE))

    assert "producer_epoch" in columns
    assert columns - PAGE == set()


def test_the_page_names_every_kind() -> None:
    kinds = set(re.findall(r'Rule\("\w+", "(\w+)"', text_of("sequence_audit")))
    kinds |= set(re.findall(r'^[A-Z]\w+ = "(\w+)"$', text_of("event_audit"), re.MULTILINE))

    assert {"gap", "duplicate"} <= kinds
    assert kinds - PAGE == set()


def test_the_page_names_every_cause() -> None:
    causes = set(re.findall(r'(?:when|otherwise)\(.*"(\w+)"\)$', text_of("event_audit"), re.MULTILINE))
    causes |= set(re.findall(r'^    ".*": "(\w+)",$', text_of("sequence_audit"), re.MULTILINE))

    assert {"sent_again", "wrong_crc"} <= causes
    assert causes - PAGE == set()

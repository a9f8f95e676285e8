"""The result of an audit or a comparison as JUnit XML, as CI systems read it.

There is a test suite for each topic, and a test case for each kind.

A test case fails if it has new findings of a kind that makes the audit fail. It is skipped if all its findings are
known. Findings of other kinds are in the output of a test case that passes.
Source: the schema of Jenkins' xunit plugin (junit-10.xsd) for elements, attributes and their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from ..checks.finding_kinds import FINDING_KINDS
from .summary import Summary, TopicKind
from .verdict_text import example_text

# The suites of findings without a topic.
_NO_TOPIC = "(no topic)"

# The characters that XML 1.0 does not allow, even as references.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(summary: Summary, kinds: Iterable[TopicKind]) -> str:
    """Return the XML. kinds: from kinds_by_topic, of the same audit."""
    found = {(kind.topic or _NO_TOPIC, kind.check, kind.kind): kind for kind in kinds}
    topics = sorted(set(summary.topic_names) | {topic for topic, _, _ in found})
    root = ElementTree.Element("testsuites", name=f"fauxka {summary.command}")
    for topic in topics:
        _add_suite(root, topic, summary, found)
    _set_totals(root, list(root))
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add_suite(
    root: ElementTree.Element, topic: str, summary: Summary, found: dict[tuple[str, str, str], TopicKind]
) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=_text(topic))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(topic, summary):
        ElementTree.SubElement(properties, "property", name=name, value=_text(value))
    for check in FINDING_KINDS:
        if check in summary.check_names:
            for kind in FINDING_KINDS[check]:
                case = ElementTree.SubElement(suite, "testcase", classname=_text(f"{topic}.{check}"), name=kind)
                case.set("time", "0")
                _add_result(case, found.get((topic, check, kind)), summary)
    _set_totals(suite, [suite])


def _properties(topic: str, summary: Summary) -> Iterable[tuple[str, str]]:
    yield "log", summary.log
    if summary.other is not None:
        yield "other side", summary.other
    for partition, end in summary.range.ends.get(topic, {}).items():
        yield f"offsets of partition {partition}", f"{summary.range.starts[topic][partition]} to {end}"


def _add_result(case: ElementTree.Element, kind: TopicKind | None, summary: Summary) -> None:
    if kind is None:
        return
    new = kind.findings - kind.known
    words = f"{kind.findings:,} {kind.kind.replace('_', ' ')}"
    if summary.baseline is not None:
        words += f", {kind.known:,} known, {new:,} new"
    lines = "\n".join([words, *(example_text(example, summary.id_word) for example in kind.examples)])
    is_failing = kind.kind in summary.failing_kinds
    if is_failing and new:
        ElementTree.SubElement(case, "failure", message=_text(words), type=kind.kind).text = _text(lines)
    elif is_failing:
        ElementTree.SubElement(case, "skipped", message=_text(words))
        ElementTree.SubElement(case, "system-out").text = _text(lines)
    else:
        ElementTree.SubElement(case, "system-out").text = _text(lines)


def _set_totals(element: ElementTree.Element, suites: Sequence[ElementTree.Element]) -> None:
    cases = [case for suite in suites for case in suite.findall("testcase")]
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    # An audit that cannot read its log fails as a whole, and writes no report.
    element.set("errors", "0")
    element.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    element.set("time", "0")


def _text(text: str) -> str:
    """Return text with an escape such as \\x1b in place of each character that XML does not allow."""
    return _NO_XML.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)

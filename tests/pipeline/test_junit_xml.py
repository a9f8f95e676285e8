"""The verdict of an audit as JUnit XML: what CI systems accept, and what they show."""

import re
from xml.etree import ElementTree

from fauxka.pipeline.checks.finding_kinds import ALL_KINDS, FINDING_KINDS
from fauxka.pipeline.report.junit_xml import junit_xml
from fauxka.pipeline.report.summary import AuditedOffsets, Comparison, Example, Summary, TopicKind, TopicTotals

TOTALS = (TopicTotals("orders", 2, 3, 1200, 9_000, 2), TopicTotals("paid", 1, 1, 1, 70, 0))
RANGE = AuditedOffsets(None, {"orders": {"0": 5}}, {"orders": {"0": 105}})

# The elements and attributes of the schema (Jenkins' junit-10.xsd), in the order of the children.
CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase", "system-out", "system-err"],
    "properties": ["property"],
    "property": [],
    "testcase": ["skipped", "error", "failure", "system-out", "system-err"],
    "skipped": [],
    "failure": [],
    "system-out": [],
}
REQUIRED = {"testsuite": {"name", "tests"}, "testcase": {"name"}, "property": {"name", "value"}}
ALLOWED = {
    "testsuites": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname", "id", "package"},
    "properties": set[str](),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time", "assertions", "status"},
    "skipped": {"message", "type"},
    "failure": {"message", "type"},
    "system-out": set[str](),
}
COUNTS = ("tests", "failures", "errors", "skipped")


def example(offset: int, event_id: str = "k1") -> Example:
    return Example("orders", 0, offset, 3, 7, 0, 0, event_id, 1, None, "first at 3")


def kind(name: str, check: str = "event", findings: int = 2, known: int = 0, event_id: str = "k1") -> TopicKind:
    return TopicKind("orders", check, name, findings, known, (example(8, event_id), example(9, event_id)))


def report(*kinds: TopicKind, **others: object) -> ElementTree.Element:
    """Return the parsed report, checked against the rules of the schema."""
    names = ("sequence", "log", "event")
    summary = Summary("a:9092", names, TOTALS, (), range=RANGE, check_names=names, **others)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    root = ElementTree.fromstring(junit_xml(summary, kinds).encode())
    assert_valid(root)
    return root


def assert_valid(element: ElementTree.Element) -> None:
    tags = [child.tag for child in element]
    order = CHILDREN[element.tag]
    assert sorted(tags, key=order.index) == tags, f"{element.tag} has {tags}"
    assert REQUIRED.get(element.tag, set()) <= set(element.keys()) <= ALLOWED[element.tag]
    if element.tag in ("testsuites", "testsuite"):
        cases = list(element.iter("testcase"))
        expected = [len(cases), *(sum(case.find(tag) is not None for case in cases) for tag in ("failure", "error"))]
        expected.append(sum(case.find("skipped") is not None for case in cases))
        assert [int(element.get(name, "-1")) for name in COUNTS] == expected
    for child in element:
        assert_valid(child)


def case_of(root: ElementTree.Element, name: str) -> ElementTree.Element:
    (case,) = root.findall(f"testsuite[@name='orders']/testcase[@name='{name}']")
    return case


def test_each_topic_is_a_suite_and_each_kind_of_a_performed_check_a_case() -> None:
    root = report(kind("duplicate"))

    assert [suite.get("name") for suite in root] == ["orders", "paid"]
    names = [case.get("name") for case in root[1].iter("testcase")]
    assert len(names) == len(set(names))
    assert set(ALL_KINDS) - set(names) == {
        *("lost", "ambiguous_success", "offset_differs", "unknown_event", "reordered", "expired"),
        *FINDING_KINDS["group"],
        # Of a comparison.
        *("duplicated", "extra", "changed", "pending"),
    }
    assert case_of(root, "gap").get("classname") == "orders.sequence"
    assert root.get("failures") == "1"


def test_a_failure_has_the_number_of_findings_and_the_first_of_them() -> None:
    failure = case_of(report(kind("duplicate", findings=1200)), "duplicate").find("failure")

    assert failure is not None
    assert (failure.get("message"), failure.get("type")) == ("1,200 duplicate", "duplicate")
    assert failure.text == "\n".join(
        ["1,200 duplicate", *(f"orders-0 offset {offset} event k1: first at 3" for offset in (8, 9))]
    )


def test_known_findings_are_skipped_and_new_ones_fail() -> None:
    kinds = (kind("duplicate", findings=3, known=3), kind("no_event_id", findings=3, known=1))

    root = report(*kinds, baseline=Comparison("before.json", 0))

    skipped, failure = case_of(root, "duplicate").find("skipped"), case_of(root, "no_event_id").find("failure")
    assert skipped is not None
    assert failure is not None
    assert skipped.get("message") == "3 duplicate, 3 known, 0 new"
    assert failure.get("message") == "3 no event id, 1 known, 2 new"


def test_findings_that_do_not_fail_are_in_the_output_of_a_case_that_passes() -> None:
    root = report(kind("duplicate"), kind("aborted_transaction", "log"), fail_on=("lost",))

    for name in ("duplicate", "aborted_transaction"):
        output = case_of(root, name).find("system-out")
        assert output is not None
        assert (output.text or "").startswith("2 ")
    assert root.get("failures") == "0"


def test_a_damaged_batch_is_a_failure_of_its_topic() -> None:
    damaged = TopicKind("other", "log", "damaged_batch", 1, 0, ())

    root = report(damaged)

    (case,) = root.findall("testsuite[@name='other']/testcase[@name='damaged_batch']")
    assert case.find("failure") is not None


def test_findings_without_a_topic_have_a_suite() -> None:
    root = report(TopicKind(None, "event", "duplicate", 1, 0, ()))

    assert [suite.get("name") for suite in root] == ["(no topic)", "orders", "paid"]


def test_the_suite_names_the_log_and_the_audited_offsets() -> None:
    properties = {one.get("name"): one.get("value") for one in report()[0].iter("property")}

    assert properties == {"log": "a:9092", "offsets of partition 0": "5 to 105"}


def test_characters_that_xml_does_not_allow_are_escaped() -> None:
    hostile = "a\x00\x1b\ud800\ufffe<&\"'>\U0001f600\n"

    root = report(kind("duplicate", event_id=hostile))

    failure = case_of(root, "duplicate").find("failure")
    assert failure is not None
    assert "event a\\x00\\x1b\\ud800\\ufffe<&\"'>\U0001f600\\n:" in (failure.text or "")


def test_the_report_has_a_declaration_and_no_control_character() -> None:
    summary = Summary("a\x07b", ("sequences",), TOTALS, (), check_names=("sequence",))

    text = junit_xml(summary, ())

    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ')
    assert re.search("[\x00-\x08\x0b-\x1f]", text) is None

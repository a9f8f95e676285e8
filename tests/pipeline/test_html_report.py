"""The HTML page of an audit: self-contained, with pictures and escaped names."""

import re
from html.parser import HTMLParser

from fauxka.pipeline.report.html_report import report_page
from fauxka.pipeline.report.report_svg import LINES_MAX, WIDTH, Bar, Mark, bars, timeline

EXAMPLE = {"topic": "orders", "partition": 0, "offset": 7, "other_offset": 3, "event_id": "e-1", "detail": "as seq 7"}
SUMMARY: dict[str, object] = {
    "verdict": "findings",
    "log": "/data",
    "topics": [{"topic": "orders", "partitions": 2, "batches": 4, "records": 9, "bytes": 900, "producers": 1}],
    "groups": [
        {
            "check": "event",
            "kind": "duplicate",
            "cause": "sent_again",
            "is_fault": True,
            "findings": 2,
            "records": 2,
            "examples": [EXAMPLE],
        }
    ],
    "pictures": {
        "copies": [{"at_ms": 1_700_000_000_000, "width_ms": 1000, "cause": "sent_again", "copies": 2}],
        "gaps": [{"topic": "orders", "partition": 1, "offset": 12, "missing": 3}],
        "producers": [
            {
                "topic": "orders",
                "partition": 0,
                "producer_id": 5,
                "producer_epoch": 1,
                "first_ms": 1_700_000_000_000,
                "last_ms": 1_700_000_009_000,
                "first_offset": 0,
                "last_offset": 8,
                "batches": 4,
            }
        ],
    },
}


class Tags(HTMLParser):
    """Collects the open tags of a page, and its references to other files."""

    VOID = frozenset({"meta"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags_of(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


def test_a_page_is_valid_and_self_contained() -> None:
    page = report_page(SUMMARY)

    tags = tags_of(page)
    assert tags.open == []
    assert tags.seen.count("svg") == 3
    assert not tags.attributes & {"src", "href", "onload", "action"}
    assert not re.search(r"url\(|@import|<script|https?://", page)


def test_a_page_has_verdict_counts_examples_and_titles_of_marks() -> None:
    page = report_page(SUMMARY)

    assert '<span class="findings">findings</span>' in page
    assert "<td>sent_again</td>" in page
    assert "<td>as seq 7</td>" in page
    assert "<title>2023-11-14 22:13:20.000+00:00: 2 sent_again</title>" in page
    assert "<title>orders-1: 3 sequences missing before offset 12</title>" in page
    assert "<title>producer 5, orders-0, epoch 1: offsets 0 to 8, 4 batches</title>" in page


def test_counts_have_separators_and_offsets_do_not() -> None:
    topic = {"topic": "orders", "partitions": 2, "batches": 4, "records": 1_234_567, "bytes": 900, "producers": 1}
    group: dict[str, object] = {"check": "event", "kind": "duplicate", "findings": 1, "records": 1, "is_fault": False}
    example = {**EXAMPLE, "offset": 7_654_321}

    page = report_page({**SUMMARY, "topics": [topic], "groups": [{**group, "examples": [example]}]})

    assert '<td class="number">1\u202f234\u202f567</td>' in page
    assert '<td class="number">7654321</td>' in page
    assert "<td>no</td>" in page


def test_text_of_the_log_is_escaped() -> None:
    hostile = "</title><script>alert(1)</script>\"'&"
    example = {**EXAMPLE, "event_id": hostile, "detail": hostile}
    group: dict[str, object] = {
        "check": hostile,
        "kind": hostile,
        "cause": hostile,
        "findings": 1,
        "records": 1,
        "examples": [example],
    }
    copies = [{"at_ms": 0, "width_ms": 1, "cause": hostile, "copies": 1}]

    page = report_page({**SUMMARY, "log": hostile, "groups": [group], "pictures": {"copies": copies}})

    assert "script" not in tags_of(page).seen
    assert tags_of(page).open == []


def test_a_clean_log_has_text_instead_of_pictures() -> None:
    page = report_page({**SUMMARY, "verdict": "clean", "groups": [], "pictures": {}})

    assert '<span class="clean">clean</span>' in page
    assert "<svg" not in page
    assert "No event has copies." in page
    assert "No sequences are missing." in page


def test_a_page_has_the_audited_range_the_notes_and_what_is_known() -> None:
    group: dict[str, object] = {
        "check": "event",
        "kind": "duplicate",
        "cause": None,
        "findings": 1_014,
        "records": 1_014,
        "known": 1_012,
    }
    offsets = {"words": "since <now>", "starts": {"orders": {"0": 5}}, "ends": {"orders": {"0": 105}}}
    compared = {"baseline": {"place": "before.json", "gone": 3}, "notes": ["a <note>"]}

    group["examples"] = []
    page = report_page({**SUMMARY, "groups": [group], "range": offsets, **compared})

    assert "<p>Only since &lt;now&gt;, the end not included:</p>" in page
    assert '<td>orders</td><td class="number">0</td><td class="number">5</td><td class="number">105</td>' in page
    assert '<td class="number">1\N{NARROW NO-BREAK SPACE}012</td><td class="number">2</td>' in page
    assert "<p>3 findings of the baseline before.json are gone.</p>" in page
    assert "<p>Note: a &lt;note&gt;</p>" in page


def test_bars_of_the_same_time_are_stacked() -> None:
    picture = bars([Bar(0, 10, "a", 1), Bar(0, 10, "b", 3), Bar(10, 10, "a", 2)])

    a, b, later = [
        tuple(float(number) for number in found)
        for found in re.findall(r'y="([\d.]+)" width="[\d.]+" height="([\d.]+)" fill="[^"]+"><title>\d{4}', picture)
    ]
    assert b[1] == 3 * a[1]
    assert b[0] + b[1] == a[0]
    assert later[1] == 2 * a[1]


def test_marks_stay_inside_the_picture() -> None:
    picture = timeline([Mark("l", 0, 0, "gap", "w"), Mark("l", 2**62, 2**63 - 1, "gap", "w")], "time")

    for left, width in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', picture):
        assert 0 <= float(left) <= float(left) + float(width) <= WIDTH


def test_lines_beyond_the_limit_are_counted_and_not_drawn() -> None:
    picture = timeline([Mark(f"line {number}", 0, 1, "gap", "w") for number in range(LINES_MAX + 7)], "offset")

    assert f"line {LINES_MAX - 1}<" in picture
    assert f"line {LINES_MAX}<" not in picture
    assert "7 more lines are not shown." in picture

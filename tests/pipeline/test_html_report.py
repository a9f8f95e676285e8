"""The HTML page of an audit: self-contained, with pictures and escaped names."""

import re
from html.parser import HTMLParser

import pytest

from fauxka.pipeline.report.html_report import report_page
from fauxka.pipeline.report.report_svg import LINES_MAX, TIME_MS_MIN, WIDTH, Bar, Mark, Picture, bars, timeline

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
            "advice": "Use a transaction.",
            "command": "fauxka records --path /data --at orders-0:7 --at orders-0:3",
            "examples": [EXAMPLE],
        }
    ],
    "pictures": {
        "copies": [
            {
                "axis": "time",
                "first": 1_700_000_000_000,
                "width": 1000,
                "cause": "sent_again",
                "count": 2,
                "first_ms": 1_700_000_000_000,
                "last_ms": 1_700_000_000_500,
            }
        ],
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


def test_a_cause_has_its_advice_and_its_command_in_front_of_its_examples() -> None:
    page = report_page(SUMMARY)

    command = "<pre><code>fauxka records --path /data --at orders-0:7 --at orders-0:3</code></pre>"
    part = f"<h3>event duplicate sent_again</h3><p><b>Advice:</b> Use a transaction.</p>{command}<table>"
    assert part in page


def copy_at(offset: int, width: int, at_ms: int, count: int = 1) -> dict[str, object]:
    row: dict[str, object] = {"axis": "offset", "first": offset, "width": width, "cause": "sent_again", "count": count}
    return {**row, "first_ms": at_ms, "last_ms": at_ms}


def test_copies_of_one_millisecond_are_bars_by_offset_and_the_page_says_so() -> None:
    copies = [copy_at(5, 1, 1_700_000_000_000), copy_at(8, 1, 1_700_000_000_000, 3)]

    page = report_page({**SUMMARY, "pictures": {"copies": copies}})

    assert "<title>offset 5: 1 sent_again</title>" in page
    assert "<title>offset 8: 3 sent_again</title>" in page
    assert ">offset 5</text>" in page
    assert ">offset 8</text>" in page
    assert "<h2>Copies by offset, by cause</h2>" in page
    assert "All are at 2023-11-14 22:13:20.000+00:00, too short a time for an axis: the axis is the offset" in page


def test_the_title_of_a_bar_has_the_offsets_that_it_covers() -> None:
    page = report_page({**SUMMARY, "pictures": {"copies": [copy_at(5, 4, 7), copy_at(9, 4, 9)]}})

    assert "<title>offsets 5 to 8: 1 sent_again</title>" in page
    assert "within 2 ms from 1970-01-01 00:00:00.007+00:00 on" in page


def test_epochs_of_a_producer_within_a_few_milliseconds_are_marks_by_offset() -> None:
    span: dict[str, object] = {"topic": "t", "partition": 0, "producer_id": 5, "first_ms": 0, "batches": 1}
    first = {**span, "producer_epoch": 0, "last_ms": 0, "first_offset": 0, "last_offset": 3}
    second = {**span, "producer_epoch": 1, "last_ms": TIME_MS_MIN - 1, "first_offset": 4, "last_offset": 9}

    page = report_page({**SUMMARY, "pictures": {"producers": [first, second]}})

    (left, width), (next_left, _) = [
        (float(found[0]), float(found[1]))
        for found in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*><title>producer', page)
    ]
    assert left + width < next_left
    assert ">offset 9</text>" in page


def test_pictures_have_names_for_screen_readers() -> None:
    page = report_page(SUMMARY)

    assert page.count('role="img" aria-label="') == page.count("<svg") == 3
    assert 'aria-label="Copies over time, by cause"' in page


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
    group |= {"advice": hostile, "command": hostile}
    copies = [{"axis": "time", "first": 0, "width": 1, "cause": hostile, "count": 1, "first_ms": 0, "last_ms": 0}]

    page = report_page({**SUMMARY, "log": hostile, "groups": [group], "pictures": {"copies": copies}})

    assert "script" not in tags_of(page).seen
    assert tags_of(page).open == []


def test_a_clean_log_has_text_instead_of_pictures() -> None:
    page = report_page({**SUMMARY, "verdict": "clean", "groups": [], "pictures": {}})

    assert '<span class="clean">clean</span>' in page
    assert "<svg" not in page
    assert "No copies with a time." in page
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
    picture = bars([Bar(0, 10, "a", 1), Bar(0, 10, "b", 3), Bar(10, 10, "a", 2)], Picture("n", "time", "copies"))

    a, b, later = [
        tuple(float(number) for number in found)
        for found in re.findall(r'y="([\d.]+)" width="[\d.]+" height="([\d.]+)" fill="[^"]+"><title>\d{4}', picture)
    ]
    assert b[1] == 3 * a[1]
    assert b[0] + b[1] == a[0]
    assert later[1] == 2 * a[1]


@pytest.mark.parametrize("last", [2, 3, 7, 16, 47])
def test_the_label_of_an_offset_is_inside_of_its_bar(last: int) -> None:
    picture = bars([Bar(number, 1, "a", 1) for number in range(last + 1)], Picture("n", "offset", "copies"))

    middle = re.search(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle">offset (\d+)</text>', picture)
    assert middle is not None
    bar = re.search(rf'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*><title>offset {middle[2]}:', picture)
    assert bar is not None
    assert float(bar[1]) <= float(middle[1]) <= float(bar[1]) + float(bar[2])
    assert f'text-anchor="end">offset {last}</text>' in picture


def test_an_axis_of_two_values_has_each_label_once() -> None:
    picture = bars([Bar(0, 1, "a", 1), Bar(1, 1, "a", 1)], Picture("n", "offset", "copies"))

    assert re.findall(r">(offset \d+)</text>", picture) == ["offset 0", "offset 1"]


def test_marks_stay_inside_the_picture() -> None:
    picture = timeline([Mark("l", 0, 0, "gap", "w"), Mark("l", 2**62, 2**63 - 1, "gap", "w")], Picture("n", "time"))

    for left, width in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', picture):
        assert 0 <= float(left) <= float(left) + float(width) <= WIDTH


def test_lines_beyond_the_limit_are_counted_and_not_drawn() -> None:
    picture = timeline(
        [Mark(f"line {number}", 0, 1, "gap", "w") for number in range(LINES_MAX + 7)], Picture("n", "offset")
    )

    assert f"line {LINES_MAX - 1}<" in picture
    assert f"line {LINES_MAX}<" not in picture
    assert "7 more lines are not shown." in picture

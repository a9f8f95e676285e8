"""The views of the state on a narrow screen, with much in them, and while the node is down."""

import re
from pathlib import Path

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Browser, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving, serving
from .conftest import NARROW, WIDE
from .open_page import opened
from .test_timeline import produce

pytestmark = pytest.mark.page

# How much of the page has moved by itself, as browsers measure it: the sum of the parts moved times how far.
SHIFT = """
() => new Promise((resolve) => {
  const sum = (list) => list.getEntries().reduce((all, entry) => all + entry.value, 0);
  new PerformanceObserver((list) => resolve(sum(list))).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(0), 1000);
})
"""
# "live" at the head is shorter than "connecting". The records alone were 0.06, before their place was kept.
SHIFT_MAX = 0.02


@pytest.mark.parametrize(
    ("address", "heading"),
    [
        ("#topics", "Topics"),
        (f"#topics/{TOPIC}", f"Topics / {TOPIC}"),
        ("#groups", "Groups"),
        ("#transactions", "Transactions"),
        ("#nodes", "Nodes"),
    ],
)
def test_view_fits_a_narrow_screen(
    browser: Browser, broker: Serving, admin: AdminClient, address: str, heading: str
) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "t" * 200})
    producer.init_transactions(20)
    admin.post("/v1/topics", {"name": "o" * 200})
    admin.post(f"/v1/topics/{TOPIC}/records", {"records": [{"key": "k" * 500, "value": "v" * 5000}]})

    with opened(browser, f"{broker.admin}/{address}", size=NARROW) as page:
        expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile(rf"^{heading}\b"))
        expect(page.locator("main table, main article, main .empty").first).to_be_visible()

        assert page.evaluate("document.querySelector('main').scrollWidth") <= NARROW[0]


def test_parts_of_a_topic_do_not_move_while_it_is_read(browser: Browser, broker: Serving, admin: AdminClient) -> None:
    admin.post(f"/v1/topics/{TOPIC}/records", {"records": [{"value": "a"}] * 10})

    with opened(browser, f"{broker.admin}/#topics/{TOPIC}", size=WIDE) as page:
        expect(page.locator(".record")).to_have_count(10)

        assert page.evaluate(SHIFT) < SHIFT_MAX


def test_long_table_shows_a_page_of_its_rows(browser: Browser, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "wide", "partitions": 501})

    with opened(browser, f"{broker.admin}/#topics/wide", size=WIDE) as page:
        partitions = page.get_by_role("region", name="Partitions")
        expect(partitions.get_by_role("row")).to_have_count(101)
        expect(page.get_by_role("navigation", name="Pages of Partitions")).to_contain_text("1 to 100 of 501")


def test_state_stays_with_the_reason_while_the_node_is_down(
    browser: Browser, broker: Serving, admin: AdminClient
) -> None:
    with opened(browser, f"{broker.admin}/#topics/{TOPIC}", size=WIDE, expected=("409",)) as page:
        partitions = page.get_by_role("region", name="Partitions")
        expect(partitions.get_by_role("row")).to_have_count(2)

        admin.post("/v1/crash", {})

        expect(page.get_by_role("alert").filter(has_text="the node is down")).to_be_visible()
        expect(partitions.get_by_role("row")).to_have_count(2)
        admin.post("/v1/restart", {})
        expect(page.get_by_role("alert").filter(has_text="the node is down")).to_have_count(0)


def test_damaged_batch_is_explained_where_its_records_would_be(
    browser: Browser, broker: Serving, admin: AdminClient
) -> None:
    admin.post("/v1/files", {"action": "corrupt", "file_kind": "log", "folder": f"{TOPIC}-0"})
    admin.post(f"/v1/topics/{TOPIC}/records", {"records": [{"value": "a"}]})

    with opened(browser, f"{broker.admin}/#topics/{TOPIC}", size=WIDE, expected=("409",)) as page:
        records = page.get_by_role("region", name="Records")

        expect(records.get_by_role("alert")).to_contain_text("from_offset 1 continues after it")


def test_narrow_timeline_shows_the_state_of_the_connection_and_the_heads_of_the_lanes(
    browser: Browser, tmp_path: Path
) -> None:
    nodes = ("--nodes", "3", "-c", "default.replication.factor=3")
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", TOPIC, *nodes) as cluster:
        produce(cluster, 1)

        with opened(browser, f"{cluster.admin}/", size=NARROW) as page:
            heads = page.locator(".lane-head.broker")
            # Of the nodes that had requests.
            expect(heads.first).to_be_visible()
            for shown in (page.get_by_text("live", exact=True), *heads.all()):
                expect(shown).to_be_in_viewport(ratio=1)
            lane = page.locator(".lane-head").first
            expect(lane).to_be_in_viewport(ratio=1)
            assert lane.evaluate("head => head.scrollWidth <= head.clientWidth")


def test_tools_of_the_timeline_stay_where_they_are_when_a_filter_is_set(page: Page) -> None:
    zoom = page.get_by_role("button", name="Zoom in")
    before = zoom.bounding_box()

    page.get_by_label("client id").fill("shop")

    expect(page.get_by_role("button", name="Clear")).to_be_visible()
    assert zoom.bounding_box() == before

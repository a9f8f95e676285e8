"""The page with much: requests that keep coming, a full journal of 100,000, large records, a node that fails."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from fauxka.protocol.messages.heartbeat import HeartbeatRequest

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving, serving
from .conftest import WIDE
from .open_page import opened
from .test_timeline import requests

pytestmark = pytest.mark.page

# Each is far more than a page has in view.
ROWS_MAX = 200
# Its response is small.
HEARTBEAT = HeartbeatRequest(group_id="load", generation_id=1, member_id="member"), 3
JOURNAL, PIPELINED = 100_000, 500
# What the page has of the journal.
SHOWN = 10_000
LARGE_RECORDS, VALUE_BYTES = 8, 1_000_000
LINKS = ("Topics", "Groups", "Nodes", "Verdict", "Faults", "Timeline")
ROUNDS = 3


@contextmanager
def sending(broker: Serving) -> Generator[threading.Event]:
    """Produce batches, one after another, within the block. The event is set after the first 100."""
    first, end = threading.Event(), threading.Event()

    def send() -> None:
        with TopicClient(broker.bootstrap) as client:
            sequence = 0
            while not end.is_set():
                client.produce(sequence)
                sequence += 1
                if sequence == 100:
                    first.set()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield first
    finally:
        end.set()
        thread.join()


def send_requests(broker: Serving, count: int) -> None:
    """Send a number of requests, some of them at a time."""
    with TopicClient(broker.bootstrap) as client:
        for _ in range(0, count, PIPELINED):
            client.repeat(*HEARTBEAT, PIPELINED)


def test_views_work_while_requests_keep_coming(page: Page, broker: Serving) -> None:
    views = page.get_by_role("navigation", name="Views")
    with sending(broker) as began:
        began.wait()
        for _ in range(ROUNDS):
            for name in LINKS:
                views.get_by_role("link", name=name).click()
                expect(page.locator("#view .is-unread")).to_have_count(0)
                expect(page.locator("#view > *").first).to_be_visible()
        newest = requests(page).get_by_role("option").last.get_attribute("id")
        expect(requests(page).get_by_role("option").last).not_to_have_attribute("id", str(newest))

        assert page.locator(".chart .row").count() < ROWS_MAX
    expect(page.get_by_role("banner")).to_contain_text("live")


@pytest.mark.timeout(900)
def test_page_of_a_journal_of_100_000_requests_shows_its_newest_and_opens_its_oldest(
    browser: Browser, tmp_path: Path
) -> None:
    options = ("--admin-port", "0", "-c", f"fauxka.journal.requests.max={JOURNAL}")
    with serving(tmp_path, *options) as broker:
        send_requests(broker, JOURNAL)

        with opened(browser, f"{broker.admin}/#timeline/{JOURNAL}", size=WIDE) as page:
            expect(page.get_by_role("region", name=f"Request {JOURNAL}", exact=True)).to_be_visible()
            expect(page.locator("output.count")).to_contain_text(f"{SHOWN:,} requests")
            assert page.locator(".chart .row").count() < ROWS_MAX
            page.goto(f"{broker.admin}/#timeline/1")

            expect(page.get_by_role("region", name="Request 1", exact=True)).to_be_visible()


def test_records_of_a_megabyte_are_read_a_few_at_a_time_and_shown_in_short(page: Page, admin: AdminClient) -> None:
    for number in range(LARGE_RECORDS):
        value = f"{number}" * VALUE_BYTES
        admin.post(f"/v1/topics/{TOPIC}/records", {"records": [{"key": f"k{number}", "value": value}]})

    page.get_by_role("link", name="Topics").click()
    page.get_by_role("link", name=TOPIC, exact=True).click()

    records = page.get_by_role("region", name="Records")
    expect(records).to_contain_text(f"to {LARGE_RECORDS - 1}")
    expect(records.locator(".record").last).to_contain_text("7777")
    assert len(records.inner_text()) < VALUE_BYTES
    records.get_by_role("button", name="Oldest").click()
    expect(records.locator(".record").first).to_contain_text("k0")


def test_page_follows_the_failover_of_a_node_while_requests_come(browser: Browser, tmp_path: Path) -> None:
    nodes = ("--nodes", "3", "-c", "default.replication.factor=3", "-c", "min.insync.replicas=1")
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", TOPIC, *nodes) as broker:
        assert broker.admin is not None
        admin = AdminClient(broker.admin)
        (partition,) = admin.get("/v1/partitions", topic=TOPIC)["items"]
        leader = partition["leader"]
        with opened(browser, f"{broker.admin}/#topics/{TOPIC}", size=WIDE) as page:
            cells = (
                page.get_by_role("region", name="Partitions", exact=True).get_by_role("row").nth(1).get_by_role("cell")
            )
            expect(cells.first).to_have_text(str(leader))

            admin.post(f"/v1/nodes/{leader}/stop", {"controlled": False, "noticed": True})

            expect(cells.first).not_to_have_text(str(leader))
            expect(page.get_by_text(f"{leader} down")).to_be_visible()
            page.get_by_role("link", name="Nodes").click()
            expect(page.get_by_role("article", name=f"Node {leader}")).to_contain_text("Leader of0 partitions")
            admin.post(f"/v1/nodes/{leader}/start", {})
            expect(page.get_by_role("article", name=f"Node {leader}")).to_contain_text("running")
            expect(page.get_by_role("banner")).to_contain_text("live")

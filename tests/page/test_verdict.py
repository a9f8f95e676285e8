"""The verdict: what it says of clean topics and of findings, and the way from a finding to its requests."""

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Browser, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving
from .conftest import NARROW, WIDE
from .open_page import opened

pytestmark = pytest.mark.page

LOST_ACK = {"match": {"api": "Produce", "topic": TOPIC}, "point": "applied", "action": {"kind": "close"}}
FALSE_SUCCESS = {
    "match": {"api": "Produce", "topic": TOPIC},
    "point": "received",
    "action": {"kind": "error", "error": "NONE"},
}

# More than the names of a page of the API.
TOPICS = 120
# Until a verdict is read again: the pause grows with the time that a read takes, which is long where much else runs.
AGAIN_MS = 30_000


def produce(broker: Serving, *values: str, key: str | None = None, **settings: str) -> None:
    """Produce each value in a batch of its own. settings: of the client, with underscores for dots."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": "true", "linger.ms": 0, **given})
    for value in values:
        producer.produce(TOPIC, value, key=key)
        assert producer.flush(30) == 0


def requests_with(admin: AdminClient, **conditions: object) -> list[int]:
    return [entry["id"] for entry in admin.get("/v1/journal", api="Produce", **conditions)["items"]]


def show_verdict(page: Page, broker: Serving) -> None:
    page.goto(f"{broker.admin}/#verdict/{TOPIC}")
    expect(page.get_by_role("heading", name=TOPIC)).to_be_visible()


def test_topics_without_requests_have_nothing_to_judge(page: Page) -> None:
    page.get_by_role("link", name="Verdict").click()

    row = page.get_by_role("row", name=TOPIC)
    expect(row).to_contain_text("nothing sent")


def test_clean_topic_says_so_and_counts_the_recognised_repetition(
    page: Page, broker: Serving, admin: AdminClient
) -> None:
    admin.post("/v1/rules", LOST_ACK)
    produce(broker, "one", "two")

    page.get_by_role("link", name="Verdict").click()
    row = page.get_by_role("row", name=TOPIC)
    expect(row).to_contain_text("clean")
    expect(row).to_contain_text("2 stored once, 1 repeated and recognised")
    row.get_by_role("link", name=TOPIC).click()

    expect(page.get_by_text("Every acknowledged batch is in the log")).to_be_visible()
    expect(page.get_by_role("row", name="Repeated and recognised")).to_contain_text("1")
    expect(page.get_by_role("heading", name="Findings")).to_have_count(0)


@pytest.mark.slice
def test_copy_is_a_finding_that_opens_each_of_its_requests(page: Page, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/rules", LOST_ACK)
    produce(broker, "one", enable_idempotence="false")
    sent, again = requests_with(admin)

    show_verdict(page, broker)

    finding = page.get_by_role("listitem").filter(has_text="Stored twice")
    expect(finding).to_contain_text("a batch without a producer id was appended at offsets 0..0")
    expect(finding).to_contain_text("rule 1: close at applied")
    expect(finding.get_by_role("link")).to_have_text(
        [f"request {sent}", f"request {again}", "record 0"], timeout=AGAIN_MS
    )
    finding.get_by_role("link", name=f"request {again}").click()
    expect(page.get_by_role("region", name=f"Request {again}")).to_contain_text("appended at offset 1")
    expect(page.locator(f"#request-{again}")).to_have_attribute("aria-selected", "true")


def test_topics_with_findings_come_first_and_mark_the_links_to_them(
    page: Page, broker: Serving, admin: AdminClient
) -> None:
    for number in range(TOPICS):
        admin.post("/v1/topics", {"name": f"clean-{number}"})
    admin.post("/v1/rules", FALSE_SUCCESS)
    produce(broker, "one", "two")

    link = page.get_by_role("navigation", name="Views").get_by_role("link", name="Verdict")
    expect(link.get_by_title("1 finding")).to_have_text("1", timeout=AGAIN_MS)
    link.click()

    rows = page.get_by_role("table", name="Topics").get_by_role("row")
    expect(rows).to_have_count(1 + TOPICS + 1)
    expect(rows.nth(1)).to_contain_text(TOPIC)
    expect(rows.nth(1)).to_contain_text("1 acknowledged and lost")
    expect(page.get_by_text(f"1 of {TOPICS + 1} topics with findings: 1 acknowledged and lost.")).to_be_visible()
    page.get_by_role("link", name="Topics").click()
    page.get_by_role("searchbox", name="Search topics").fill(TOPIC)
    page.get_by_role("row", name=TOPIC).get_by_role("link", name="1 finding").click()
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()


def test_lost_batch_links_to_the_request_that_was_acknowledged(page: Page, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/rules", FALSE_SUCCESS)
    produce(broker, "one")
    (acknowledged,) = requests_with(admin)

    show_verdict(page, broker)

    finding = page.get_by_role("listitem").filter(has_text="Acknowledged and lost")
    expect(finding.get_by_role("link")).to_have_text([f"request {acknowledged}"])
    expect(page.get_by_role("row", name="Acknowledged and lost")).to_contain_text("1")


def test_open_verdict_changes_with_new_requests(page: Page, broker: Serving, admin: AdminClient) -> None:
    show_verdict(page, broker)
    expect(page.get_by_text("Nothing was sent to this topic")).to_be_visible()

    produce(broker, "one")
    expect(page.get_by_text("Every acknowledged batch is in the log")).to_be_visible(timeout=AGAIN_MS)
    admin.post("/v1/rules", FALSE_SUCCESS)
    produce(broker, "two")

    expect(page.get_by_text("1 finding", exact=True)).to_be_visible(timeout=AGAIN_MS)


def test_link_keeps_the_focus_when_the_verdict_changes(page: Page, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/rules", FALSE_SUCCESS)
    produce(broker, "one")
    show_verdict(page, broker)
    link = page.get_by_role("listitem").get_by_role("link")
    link.focus()

    produce(broker, "two")

    expect(page.get_by_role("row", name="Stored once")).to_contain_text("1", timeout=AGAIN_MS)
    expect(link).to_be_focused()


def test_page_without_new_requests_asks_for_no_verdict_again(browser: Browser, broker: Serving) -> None:
    asked: list[str] = []
    with opened(browser, f"{broker.admin}/", size=WIDE) as page:
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        page.on("request", lambda request: asked.append(request.url) if "/v1/verdict" in request.url else None)
        show_verdict(page, broker)
        expect(page.get_by_text("Nothing was sent to this topic")).to_be_visible()
        # The clock at the head is drawn each second. Another read would come after two.
        for _ in range(4):
            clock = page.locator(".clock")
            expect(clock).not_to_have_text(clock.inner_text())

        assert len([url for url in asked if "topic=" in url]) == 1
        # Those on all topics are read for the mark at the link to the view.
        assert len([url for url in asked if "/v1/verdicts" in url]) <= 1


def test_event_id_finds_the_copies_of_any_producer(page: Page, broker: Serving) -> None:
    produce(broker, "one", key="order-1")
    produce(broker, "one", key="order-1")
    show_verdict(page, broker)
    expect(page.get_by_text("clean", exact=True)).to_be_visible()

    page.get_by_label("Event id").select_option("event id: key")

    expect(page.get_by_text("event id 'order-1'")).to_be_visible()
    assert page.url.endswith(f"#verdict/{TOPIC}/key")
    page.get_by_label("Event id").select_option("event id: header")
    page.get_by_label("Header name").fill("event-id")
    page.get_by_label("Header name").press("Enter")
    expect(page.get_by_text("clean", exact=True)).to_be_visible()
    assert page.url.endswith(f"#verdict/{TOPIC}/header%3Aevent-id")


def test_unknown_topic_shows_the_error_of_the_api(browser: Browser, broker: Serving) -> None:
    with opened(browser, f"{broker.admin}/#verdict/{TOPIC}s", size=WIDE, expected=("404",)) as page:
        expect(page.get_by_role("alert")).to_contain_text(f"there is no topic '{TOPIC}s'; did you mean {TOPIC}?")


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_request_of_the_address_opens_though_the_page_gets_it_later(
    browser: Browser, broker: Serving, admin: AdminClient, size: tuple[int, int]
) -> None:
    produce(broker, *map(str, range(40)))
    first, *_ = requests_with(admin)

    with opened(browser, f"{broker.admin}/#timeline/{first}", size=size) as page:
        expect(page.get_by_role("region", name=f"Request {first}")).to_be_visible()
        expect(page.locator(f"#request-{first}")).to_be_in_viewport()


def test_request_that_is_no_longer_kept_is_said_to_be_so(browser: Browser, broker: Serving, admin: AdminClient) -> None:
    produce(broker, "one")
    admin.call("DELETE", "/v1/journal")
    produce(broker, "two")

    with opened(browser, f"{broker.admin}/#timeline/1", size=WIDE) as page:
        expect(page.get_by_role("status").filter(has_text="Request 1 is no longer kept")).to_be_visible()

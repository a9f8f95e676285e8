"""The timeline: what a person sees of the requests of real clients, and what a click or a key shows."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Browser, Locator, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving, serving
from .conftest import WIDE
from .open_page import opened

pytestmark = pytest.mark.page

LOST_ACK = {
    "match": {"api": "Produce", "topic": TOPIC},
    "when": {"skip": 1},
    "point": "applied",
    "action": {"kind": "close"},
}
UNAUTHORIZED = "401"
# As a browser does for the tab behind another one. The broker sends requests ten times a second.
SET_HIDDEN = """(isHidden) => {
  Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
HIDDEN_MS = 1000
# Longer than the test takes.
FETCH_WAIT_MS = 60_000


def produce(broker: Serving, count: int) -> None:
    """Produce records with the idempotent producer of confluent-kafka, each in a batch of its own."""
    producer = Producer(
        {"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "linger.ms": 0, "client.id": "shop"}
    )
    for number in range(count):
        producer.produce(TOPIC, b"order %d" % number)
        producer.flush()


def requests(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Requests")


def test_page_without_requests_says_where_to_point_a_client(page: Page, broker: Serving) -> None:
    expect(page.get_by_role("heading", name="No requests")).to_be_visible()
    expect(page.get_by_text(f"Point a client at {broker.bootstrap}")).to_be_visible()


@pytest.mark.slice
def test_lost_acknowledgement_is_drawn_with_its_retry(page: Page, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/rules", LOST_ACK)

    produce(broker, 3)

    lost = requests(page).get_by_role("option", name="close by rule 1")
    expect(lost).to_have_count(1)
    expect(lost).to_contain_text("appended at offset 1")
    expect(lost.locator(".fault.is-cut")).to_have_count(1)
    expect(lost.locator(".arrow.lost")).to_have_count(1)
    retry = requests(page).get_by_role("option", name="duplicate of offset 1")
    expect(retry).to_contain_text("repeats")
    retry.get_by_text("repeats").click()
    expect(lost).to_have_attribute("aria-selected", "true")


def test_click_on_a_batch_shows_what_the_broker_decided_and_why(
    page: Page, broker: Serving, admin: AdminClient
) -> None:
    admin.post("/v1/rules", LOST_ACK)
    produce(broker, 3)

    requests(page).get_by_role("option", name="duplicate of offset 1").click()

    panel = page.get_by_role("region", name="Request")
    expect(panel).to_contain_text("duplicate of offset 1")
    expect(panel).to_contain_text("Producer epoch")
    expect(panel).to_contain_text("next sequence 3")
    expect(panel.get_by_role("listitem").filter(has_text="offset 1")).to_have_class("is-this")
    panel.get_by_role("button", name="repeats request").click()
    expect(panel).to_contain_text("close at applied, by rule 1")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_normal_close_of_a_consumer_is_not_notable(page: Page, broker: Serving, admin: AdminClient) -> None:
    produce(broker, 1)
    with TopicClient(broker.bootstrap) as client:
        # It waits for records, and the client closes its connection meanwhile.
        client.send_fetch(max_wait_ms=FETCH_WAIT_MS, offset=1)
        expect(requests(page).get_by_role("option", name="awaits its response")).to_have_count(1)

    left = requests(page).get_by_role("option", name="the client closed first")
    expect(left).to_have_count(1)
    expect(left).to_have_class(re.compile("is-ok"))
    expect(left.locator(".lost")).to_have_count(0)
    assert [entry["api"] for entry in admin.get("/v1/journal?notable=true")["items"]] == []


def test_keys_choose_and_open_a_request(page: Page, broker: Serving) -> None:
    produce(broker, 2)
    expect(requests(page).get_by_role("option", name="offset 1")).to_have_count(1)

    requests(page).focus()
    page.keyboard.press("End")
    expect(requests(page).get_by_role("option").last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    expect(requests(page).get_by_role("option").nth(-2)).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("region", name="Request")).to_be_visible()


def test_zoom_out_draws_bars_and_keeps_the_end_in_view(page: Page, broker: Serving) -> None:
    produce(broker, 30)
    last = requests(page).get_by_role("option", name="offset 29")
    expect(last).to_be_in_viewport()

    for _ in range(3):
        page.get_by_role("button", name="Zoom out").click()

    expect(last).to_be_in_viewport()
    expect(requests(page).get_by_role("option", name="offset 0")).to_be_in_viewport()
    expect(last.locator(".bar")).to_have_count(1)


def test_text_from_the_wire_is_text(page: Page, broker: Serving) -> None:
    client_id = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
    producer = Producer({"bootstrap.servers": broker.bootstrap, "client.id": client_id})
    producer.list_topics(timeout=10)

    expect(page.locator(".lane-head").first).to_have_attribute("title", client_id)
    requests(page).get_by_role("option", name="Metadata").first.click()
    expect(page.get_by_role("region", name="Request")).to_contain_text(client_id)
    expect(page).to_have_title(re.compile(rf"^fauxka {broker.bootstrap} · Timeline \d+$"))


def test_link_to_the_content_stays_in_the_view(page: Page, broker: Serving) -> None:
    page.goto(f"{broker.admin}/#topics")
    expect(page.get_by_role("heading", name="Topics")).to_be_visible()

    page.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press("Enter")

    expect(page.locator("#view")).to_be_focused()
    assert page.url.endswith("#topics")
    expect(page.get_by_role("heading", name="Topics")).to_be_visible()


def test_hidden_page_has_no_connection_and_goes_on_when_it_is_shown(page: Page, broker: Serving) -> None:
    produce(broker, 1)
    expect(requests(page).get_by_role("option", name="offset 0")).to_have_count(1)

    page.evaluate(SET_HIDDEN, True)
    produce(broker, 2)
    page.wait_for_timeout(HIDDEN_MS)
    expect(requests(page).get_by_role("option", name="offset 2")).to_have_count(0)
    page.evaluate(SET_HIDDEN, False)

    expect(requests(page).get_by_role("option", name="offset 2")).to_have_count(1)
    expect(page.get_by_role("banner")).to_contain_text("live")


def test_page_left_open_shows_only_the_requests_of_another_broker_behind_its_address(
    browser: Browser, tmp_path: Path
) -> None:
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", TOPIC) as first:
        address = urlsplit(first.admin or "")
        produce(first, 3)
        with opened(
            browser, address.geturl() + "/", size=WIDE, expected=("Failed to load resource: net::ERR_",)
        ) as page:
            expect(requests(page).get_by_role("option", name="offset 2")).to_have_count(1)
            first.process.kill()
            first.process.wait()
            first.ready_file.unlink()
            with serving(tmp_path, "--admin-port", str(address.port), "--seed-topic", TOPIC) as second:
                # More requests than the first broker had: the ids of its requests are ids here, too.
                produce(second, 9)

                expect(requests(page).get_by_role("option", name="offset 8")).to_have_count(1)
                journal = AdminClient(address.geturl()).get("/v1/journal")["items"]
                expect(page.locator("output.count")).to_have_text(f"{len(journal)} requests")


def test_chart_that_is_scrolled_back_keeps_its_place_and_counts_what_is_newer(
    page: Page, broker: Serving, admin: AdminClient
) -> None:
    produce(broker, 40)
    before = len(admin.get("/v1/journal")["items"])
    expect(page.locator("output.count")).to_have_text(f"{before} requests")
    requests(page).evaluate("(chart) => { chart.scrollTop = 400; }")
    seen = requests(page).get_by_role("option", name=re.compile("offset 8$"))
    place = seen.bounding_box()
    assert place is not None
    newer = page.get_by_role("button", name="newer")
    expect(newer).to_be_hidden()

    produce(broker, 2)
    page.get_by_label("API", exact=True).select_option("Produce")
    page.get_by_label("API", exact=True).select_option("")

    after = len(admin.get("/v1/journal")["items"])
    expect(newer).to_have_text(f"{after - before} newer ↓")
    assert seen.bounding_box() == place
    newer.click()
    expect(newer).to_be_hidden()
    expect(requests(page).get_by_role("option", name="offset 41")).to_be_in_viewport()


def test_cleared_journal_empties_the_timeline(page: Page, broker: Serving, admin: AdminClient) -> None:
    produce(broker, 1)
    expect(requests(page).get_by_role("option", name="offset 0")).to_have_count(1)

    admin.delete("/v1/journal")

    expect(requests(page).get_by_role("option")).to_have_count(0)
    expect(page.get_by_role("heading", name="No requests")).to_be_visible()


def test_manual_clock_is_shown(page: Page, admin: AdminClient) -> None:
    admin.post("/v1/clock", {"mode": "manual"})

    expect(page.get_by_role("banner")).to_contain_text("stands")


def test_token_is_asked_for_once_and_kept(browser: Browser, tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--admin-port", "0", "--admin-token", "secret") as broker,
        opened(browser, f"{broker.admin}/", size=WIDE, expected=(UNAUTHORIZED,)) as page,
    ):
        page.get_by_role("textbox", name="Token").fill("wrong")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("dialog")).to_contain_text("refused")
        page.get_by_role("textbox", name="Token").fill("ысекрет")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("dialog")).to_contain_text("refused")
        page.get_by_role("textbox", name="Token").fill("secret")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("banner")).to_contain_text("live")
        page.reload()
        expect(page.get_by_role("banner")).to_contain_text("live")
        expect(page.get_by_role("dialog")).to_have_count(0)

"""The timeline while requests come: no blank frame, a pause, and more windows than a browser has connections."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving, serving
from .conftest import WIDE
from .open_page import opened
from .test_timeline import produce, requests

pytestmark = pytest.mark.page

# Counts the frames in which a request in view has no row, until the timeline has as many requests as `until`.
WATCH_FRAMES = """async (until) => {
  const chart = document.querySelector(".chart");
  const channel = new MessageChannel();
  const painted = () => new Promise((done) => { channel.port1.onmessage = done; channel.port2.postMessage(0); });
  const found = { frames: 0, blank: 0 };
  do {
    await new Promise(requestAnimationFrame);
    await painted();
    const box = chart.getBoundingClientRect();
    const body = chart.firstElementChild.getBoundingClientRect();
    let covered = 0;
    for (const row of chart.querySelectorAll(".row")) {
      const { top, bottom } = row.getBoundingClientRect();
      covered += Math.max(0, Math.min(bottom, box.bottom) - Math.max(top, box.top));
    }
    found.frames += 1;
    if (covered < Math.min(body.bottom, box.bottom) - Math.max(body.top, box.top) - 1) found.blank += 1;
  } while (parseInt(document.querySelector("output.count").textContent, 10) < until);
  return found;
}"""
RECORDS = 300
# The page has 10,000 of the requests, and the journal more.
KEPT, SHOWN, PRODUCED, PIPELINED = 20_000, 10_000, 10_500, 500
DELAY = {"match": {"api": "Produce"}, "point": "answering", "action": {"kind": "delay", "ms": 50}}
# A browser has six connections to a host.
WINDOWS = 7


def test_no_frame_is_blank_while_requests_come(page: Page, broker: Serving) -> None:
    page.evaluate(f"() => {{ window.watched = ({WATCH_FRAMES})({RECORDS}); }}")

    produce(broker, RECORDS)

    found = page.evaluate("() => window.watched")
    assert found["frames"] > 1
    assert found["blank"] == 0


def test_paused_timeline_keeps_its_requests_until_it_is_resumed(page: Page, broker: Serving) -> None:
    produce(broker, 3)
    last = requests(page).get_by_role("option").last
    expect(last).to_contain_text("offset 2")

    page.get_by_role("button", name="Pause").click()
    produce(broker, 40)

    expect(page.locator("output.count")).to_contain_text("came after the pause")
    expect(last).to_contain_text("offset 2")
    page.get_by_role("button", name="Resume").click()
    expect(last).to_contain_text("offset 42")
    expect(last).to_be_in_viewport()


def test_window_without_a_connection_says_why_and_goes_on_when_another_one_is_closed(
    browser: Browser, broker: Serving
) -> None:
    with opened(browser, f"{broker.admin}/", size=WIDE) as first:
        windows = [first]
        while len(windows) < WINDOWS - 1:
            windows.append(first.context.new_page())
            windows[-1].goto(f"{broker.admin}/")
        live = [window.get_by_role("banner").get_by_text("live", exact=True) for window in windows]
        for state in live[:-1]:
            expect(state).to_be_visible()
        last = first.context.new_page()
        last.goto(f"{broker.admin}/#topics")

        expect(last.get_by_role("banner")).to_contain_text("waits: five other windows are live")
        expect(last.get_by_role("link", name=TOPIC, exact=True)).to_be_visible()
        for window in windows[:2]:
            window.close()
        expect(last.get_by_role("banner").get_by_text("live", exact=True)).to_be_visible()


def test_request_that_the_page_has_not_is_loaded_by_address_and_by_page(browser: Browser, tmp_path: Path) -> None:
    options = ("--admin-port", "0", "--seed-topic", TOPIC, "-c", f"fauxka.journal.requests.max={KEPT}")
    with serving(tmp_path, *options) as broker:
        with TopicClient(broker.bootstrap) as client:
            for first in range(0, PRODUCED, PIPELINED):
                client.send_produce(*range(first, first + PIPELINED))
                for _ in range(PIPELINED):
                    client.receive_produced()

        with opened(browser, f"{broker.admin}/#timeline/3", size=WIDE) as page:
            panel = page.get_by_role("region", name="Request 3", exact=True)
            expect(panel).to_contain_text("appended at offset")
            expect(panel).to_contain_text("Duration")
            expect(page.locator("output.count")).to_contain_text("older ones not shown")
            oldest = PRODUCED - SHOWN
            page.get_by_role("button", name="Earlier").click()

            expect(requests(page).get_by_role("option", name=f"offset {oldest - 1}", exact=False).first).to_be_visible()
            expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_duration_of_a_delayed_response_says_what_was_injected(page: Page, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/rules", DELAY)
    produce(broker, 1)

    requests(page).get_by_role("option", name="by rule 1").first.click()

    expect(page.get_by_role("region", name="Request")).to_contain_text("ms injected")

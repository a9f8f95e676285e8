"""The address and the title of the page: they follow the view, the selected request, the filter and the lanes."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving
from .conftest import NARROW, WIDE
from .open_page import opened
from .test_timeline import produce, requests

pytestmark = pytest.mark.page

# The distance of the middle of the selected request from that of the chart, in pixels.
FROM_MIDDLE = """() => {
  const middleOf = (selector) => {
    const { top, height } = document.querySelector(selector).getBoundingClientRect();
    return top + height / 2;
  };
  return Math.abs(middleOf("[aria-selected=true]") - middleOf(".chart"));
}"""


def test_title_names_the_view(page: Page, broker: Serving) -> None:
    expect(page).to_have_title(f"fauxka {broker.bootstrap}")

    page.get_by_role("link", name="Topics").click()
    expect(page).to_have_title(f"fauxka {broker.bootstrap} · Topics")
    page.get_by_role("link", name=TOPIC, exact=True).click()
    expect(page).to_have_title(f"fauxka {broker.bootstrap} · Topics {TOPIC}")
    page.go_back()
    expect(page).to_have_title(f"fauxka {broker.bootstrap} · Topics")


def test_address_names_the_selected_request_and_a_reload_opens_it(page: Page, broker: Serving) -> None:
    page.get_by_role("link", name="Topics").click()
    page.get_by_role("link", name="Timeline").click()
    produce(broker, 1)
    requests(page).get_by_role("option", name="offset 0").click()
    panel = page.get_by_role("region", name="Request")
    expect(panel).to_contain_text("appended at offset 0")

    page.reload()
    expect(panel).to_contain_text("appended at offset 0")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()
    assert page.url.endswith("#timeline")
    page.go_back()
    expect(page.get_by_role("heading", name="Topics")).to_be_visible()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_request_of_the_address_stays_in_the_middle_while_requests_come(
    browser: Browser, broker: Serving, admin: AdminClient, size: tuple[int, int]
) -> None:
    produce(broker, 40)
    newest = admin.get("/v1/journal")["items"][-1]["id"]

    with opened(browser, f"{broker.admin}/#timeline/{newest - 1}", size=size) as page:
        expect(page.get_by_role("region", name=f"Request {newest - 1}", exact=True)).to_be_visible()
        produce(broker, 40)

        # Each of the two producers asks for its id first.
        expect(page.get_by_text("newer ↓")).to_have_text(re.compile(r"^4\d newer"))
        assert page.evaluate(FROM_MIDDLE) <= 1


def test_back_closes_the_request_and_undoes_the_filter(page: Page, broker: Serving) -> None:
    produce(broker, 2)
    panel = page.get_by_role("region", name="Request")
    page.get_by_label("API", exact=True).select_option("Produce")
    page.get_by_label("client id").press_sequentially("sho")
    requests(page).get_by_role("option", name="offset 0").click()
    requests(page).get_by_role("option", name="offset 1").click()
    expect(page).to_have_url(re.compile(r"#timeline/\d+/api=Produce/client=sho$"))
    expect(page).to_have_title(re.compile(r"· Timeline \d+ api=Produce client=sho$"))

    page.go_back()
    expect(panel).to_be_hidden()
    expect(page).to_have_url(re.compile(r"#timeline/api=Produce/client=sho$"))
    page.go_back()
    expect(page.get_by_label("client id")).to_have_value("")
    expect(page.get_by_label("API", exact=True)).to_have_value("Produce")
    page.go_forward()
    page.go_forward()
    expect(panel).to_contain_text("appended at offset 1")


def test_address_opens_filter_and_lanes(page: Page, broker: Serving) -> None:
    produce(broker, 1)

    page.goto(f"{broker.admin}/#timeline/topic=gone/partition=3/notable=on/lane=producer")
    page.reload()

    expect(page.get_by_label("Topic", exact=True)).to_have_value("gone")
    expect(page.get_by_label("partition")).to_have_value("3")
    expect(page.get_by_label("notable only")).to_be_checked()
    expect(page.get_by_label("One lane per")).to_have_value("producer")
    expect(page.get_by_role("heading", name="No request is selected")).to_be_visible()

"""The start of the page: what is shown before the broker has responded, and what a reload loads again."""

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from ..serving_process import Serving
from .conftest import WIDE

pytestmark = pytest.mark.page

# Names and received bytes of the files: the head of a response with status 304 counts as 300 bytes.
LOADED = """() => performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
  .filter(({ name }) => !name.includes("/v1/")).map(({ name, transferSize }) => [name, transferSize])"""
HEAD_BYTES = 300


def test_view_is_shown_before_the_first_call_of_the_api_returns(browser: Browser, broker: Serving) -> None:
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
    page = context.new_page()
    held: list[Route] = []
    page.route("**/v1/**", lambda route: held.append(route))

    page.goto(f"{broker.admin}/")
    expect(page.get_by_role("heading", name="No requests")).to_be_visible()
    expect(page.get_by_text("Point a client at the broker")).to_be_visible()
    for route in held:
        route.continue_()
    page.unroute("**/v1/**")

    expect(page.get_by_text(f"Point a client at {broker.bootstrap}")).to_be_visible()
    context.close()


def test_reload_loads_no_file_again(page: Page, broker: Serving) -> None:
    expect(page.get_by_role("banner")).to_contain_text("live")

    page.reload()
    expect(page.get_by_role("banner")).to_contain_text("live")

    files = page.evaluate(LOADED)
    assert {f"{broker.admin}/", f"{broker.admin}/page/main.js", f"{broker.admin}/page/style.css"} <= {
        name for name, _ in files
    }
    assert [name for name, received in files if received > HEAD_BYTES] == []

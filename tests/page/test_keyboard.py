"""The page by the keyboard alone: the Tab key reaches all that a pointer can press, and Enter performs it."""

import pytest
from playwright.sync_api import Browser, Page, expect

from ..admin.admin_client import AdminClient
from ..serving_process import Serving
from .conftest import WIDE
from .open_page import opened
from .shown_views import ALL_VIEWS, ShownView

pytestmark = pytest.mark.page

# What a pointer can press or type into: in the open dialog if there is one.
ACTIONS = """() => {
  const place = document.querySelector("dialog[open]") ?? document;
  const all = place.querySelectorAll('a[href], button, input, select, textarea, summary, [role=option]');
  // Arrows choose among requests of the timeline and among radio buttons.
  const isOther = (each) => each.matches(":disabled, .row, [type=radio]:not(:checked)");
  return [...all].filter((each) => each.checkVisibility({ visibilityProperty: true }) && !isOther(each));
}"""
# Collects what has had the focus, and returns the number of actions.
WATCH = f"""() => {{
  window.reached = new Set();
  addEventListener("focusin", ({{ target }}) => window.reached.add(target));
  if (document.activeElement !== document.body) window.reached.add(document.activeElement);
  return ({ACTIONS})().length;
}}"""
LEFT_OUT = f"() => ({ACTIONS})().filter((each) => !window.reached.has(each)).map((each) => each.outerHTML)"
# Between two rounds the focus is in the browser's own controls, and tables and charts take it too.
TABS_MORE = 30


@pytest.mark.parametrize("view", ALL_VIEWS, ids=lambda view: view.name)
def test_tab_reaches_each_action_of_a_view(browser: Browser, shop: Serving, view: ShownView) -> None:
    with opened(browser, f"{shop.admin}/{view.address}", size=WIDE, expected=("409",)) as page:
        view.show(page)
        count = page.evaluate(WATCH)

        for _ in range(count + TABS_MORE):
            page.keyboard.press("Tab")

        assert page.evaluate(LEFT_OUT) == []


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the element with this text or label has the focus."""
    focused = """() => {
      const { textContent, ariaLabel, labels } = document.activeElement;
      return [textContent.trim(), ariaLabel, ...[...(labels ?? [])].map((label) => label.textContent)];
    }"""
    for _ in range(page.evaluate(f"({ACTIONS})().length") + TABS_MORE):
        if name in page.evaluate(focused):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab reaches {name!r}")


def press_enter_at(page: Page, *names: str) -> None:
    """Go to each element with the Tab key and press Enter."""
    for name in names:
        tab_to(page, name)
        page.keyboard.press("Enter")


def test_keys_alone_arm_a_recipe_and_remove_its_rule(page: Page, admin: AdminClient) -> None:
    press_enter_at(page, "Faults", "Lose the next acknowledgement")
    rule = page.get_by_role("list", name="rules in force").get_by_role("listitem")
    expect(rule).to_have_count(1)

    press_enter_at(page, "Remove rule 1")

    expect(rule).to_have_count(0)
    assert admin.get("/v1/rules")["items"] == []


def test_keys_alone_create_a_topic_and_append_a_record(page: Page, admin: AdminClient) -> None:
    press_enter_at(page, "Topics", "Create topic")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.type("orders")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)

    press_enter_at(page, "orders", "Append record")
    expect(page.get_by_role("dialog")).to_be_visible()
    tab_to(page, "Key")
    page.keyboard.type("k1")
    page.keyboard.press("Enter")

    expect(page.get_by_role("region", name="Records").locator("summary").first).to_contain_text("k1")
    assert [record["key"] for record in admin.get("/v1/topics/orders/records")["items"]] == ["k1"]


def test_closed_dialog_gives_the_focus_back_to_its_button(page: Page) -> None:
    press_enter_at(page, "Topics", "Create topic")
    expect(page.get_by_role("dialog")).to_be_visible()

    page.keyboard.press("Escape")

    expect(page.get_by_role("button", name="Create topic")).to_be_focused()

"""The address and the title of the page: they follow the view and the selected request."""

import pytest
from playwright.sync_api import Page, expect

from ..broker.topic_client import TOPIC
from ..serving_process import Serving
from .test_timeline import produce, requests

pytestmark = pytest.mark.page


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

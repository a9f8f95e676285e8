"""What `make test` tests of the page, where Chromium is: requests, each of the views, and a fault."""

import pytest
from playwright.sync_api import Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving

pytestmark = pytest.mark.browser

# By the link to a view, the heading of what it shows.
VIEWS = {
    "Topics": "Topics",
    "Groups": "No groups",
    "Transactions": "No transactions",
    "Nodes": "Node 1 running",
    "Verdict": "Verdict",
    "Faults": "Recipes",
}


def test_request_is_shown_with_what_the_broker_decided(page: Page, broker: Serving) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    page.get_by_role("option", name="appended at offset 0").click()

    expect(page.get_by_role("region", name="Request")).to_contain_text(f"{TOPIC}-0appended at offset 0")


def test_each_view_is_shown_by_its_link(page: Page) -> None:
    views = page.get_by_role("navigation", name="Views")
    for link, heading in VIEWS.items():
        views.get_by_role("link", name=link).click()
        expect(page.get_by_role("heading", name=heading, exact=True).first).to_be_visible()
    assert views.get_by_role("link").count() == len(VIEWS) + 1


def test_recipe_of_the_page_becomes_a_rule_of_the_broker(page: Page, admin: AdminClient) -> None:
    page.get_by_role("link", name="Faults").click()
    page.get_by_role("button", name="Lose the next acknowledgement", exact=True).click()

    expect(page.get_by_role("list", name="rules in force").get_by_role("listitem")).to_have_count(1)
    (rule,) = admin.get("/v1/rules")["items"]
    assert rule["action"]["kind"] == "close"

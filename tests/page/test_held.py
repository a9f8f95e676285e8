"""Held requests of the page: moved by dragging or by keys, and released in the order of the list."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .faults_page import HOLD, held_row, held_rows, open_faults, producing

pytestmark = pytest.mark.page


@pytest.fixture
def held_page(page: Page, admin: AdminClient) -> Page:
    """The page at its held requests, with a rule that holds each Produce."""
    admin.post("/v1/rules", HOLD)
    open_faults(page)
    return page


def values(admin: AdminClient) -> list[str]:
    return [record["value"] for record in admin.get(f"/v1/topics/{TOPIC}/records")["items"]]


def names_of(page: Page) -> list[str]:
    return [text.removeprefix("Produce of ") for text in held_rows(page).locator("b").all_inner_texts()]


def drag(page: Page) -> None:
    held_row(page, "third").drag_to(held_row(page, "first"))


def press_keys(page: Page) -> None:
    up = held_row(page, "third").get_by_role("button", name="up")
    up.focus()
    page.keyboard.press("Enter")
    expect(held_rows(page).nth(1)).to_contain_text("third")
    expect(up).to_be_focused()
    page.keyboard.press("Enter")
    expect(up).to_be_disabled()


def test_held_request_of_a_client_that_has_closed_its_connection_is_marked(
    held_page: Page, broker: Serving, admin: AdminClient
) -> None:
    closed = held_page.get_by_text("the client has closed its connection")
    with TopicClient(broker.bootstrap) as client:
        client.send_produce(0)
        expect(held_rows(held_page)).to_have_count(1)
        expect(closed).to_be_hidden()

    expect(closed).to_be_visible()
    held_page.get_by_role("link", name="Timeline").click()
    expect(held_page.get_by_role("option", name="no response: the client has closed")).to_have_count(1)


@pytest.mark.slice
@pytest.mark.parametrize("move", [drag, press_keys])
def test_requests_are_released_in_the_order_of_the_list(
    held_page: Page, broker: Serving, admin: AdminClient, move: Callable[[Page], None]
) -> None:
    with producing(broker, held_page, "first", "second", "third"):
        assert names_of(held_page) == ["first", "second", "third"]
        move(held_page)
        expect(held_rows(held_page).first).to_contain_text("third")
        assert names_of(held_page) == ["third", "first", "second"]
        held_page.get_by_role("button", name="Release all in this order", exact=True).click()

    assert values(admin) == ["third", "first", "second"]
    expect(held_rows(held_page)).to_have_count(0)


def test_one_request_is_released_alone(held_page: Page, broker: Serving, admin: AdminClient) -> None:
    with producing(broker, held_page, "first", "second"):
        held_row(held_page, "second").get_by_role("button", name="Release held request 2", exact=True).click()
        expect(held_rows(held_page)).to_have_count(1)
        assert values(admin) == ["second"]
        held_page.get_by_role("button", name="Release all in this order", exact=True).click()

    assert values(admin) == ["second", "first"]


def test_order_stays_when_another_request_arrives(held_page: Page, broker: Serving) -> None:
    with producing(broker, held_page, "first", "second"):
        held_row(held_page, "second").get_by_role("button", name="up").click()
        with producing(broker, held_page, "third"):
            assert names_of(held_page) == ["second", "first", "third"]
            held_page.get_by_role("button", name="Release all in this order", exact=True).click()


def test_page_without_held_requests_says_how_to_hold_them(page: Page) -> None:
    open_faults(page)

    expect(page.get_by_text("No request is held. The recipe Hold")).to_be_visible()
    expect(page.get_by_role("button", name="Release all in this order", exact=True)).to_be_hidden()

"""Long lists: a page of them is in the document, by name, by column, and again after Back and a reload."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ..admin.admin_client import AdminClient
from ..serving_process import Serving, serving
from .conftest import WIDE
from .open_page import opened

pytestmark = pytest.mark.page

TOPICS, PAGE_ROWS = 501, 100
# Topics with more partitions than the others.
WIDER = {"topic-7": 3, "topic-400": 2}


@pytest.fixture(scope="module")
def many_topics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A broker with topic-0 to topic-500."""
    with serving(tmp_path_factory.mktemp("many"), "--admin-port", "0", "-c", "fauxka.busy.poll.us=0") as broker:
        assert broker.admin is not None
        admin = AdminClient(broker.admin)
        for number in range(TOPICS):
            name = f"topic-{number}"
            admin.post("/v1/topics", {"name": name, "partitions": WIDER.get(name, 1)})
        yield broker


@pytest.fixture
def topics(browser: Browser, many_topics: Serving) -> Iterator[Page]:
    """The list of the topics."""
    with opened(browser, f"{many_topics.admin}/#topics", size=WIDE) as page:
        yield page


def names(page: Page) -> Locator:
    return page.get_by_role("region", name="Topics", exact=True).get_by_role("rowheader")


def turn(page: Page, button: str) -> None:
    page.get_by_role("navigation", name="Pages of Topics").get_by_role("button", name=button).click()


def sort_by(page: Page, head: str) -> None:
    page.get_by_role("columnheader", name=head).get_by_role("button").click()


def test_document_has_one_page_of_a_long_list(topics: Page) -> None:
    expect(names(topics)).to_have_count(PAGE_ROWS)
    pages = topics.get_by_role("navigation", name="Pages of Topics")
    expect(pages).to_contain_text("1 to 100 of 501")
    expect(pages.get_by_role("button", name="Previous")).to_be_disabled()

    for _ in range(TOPICS // PAGE_ROWS):
        turn(topics, "Next")

    expect(pages).to_contain_text("501 to 501 of 501")
    expect(names(topics)).to_have_count(1)
    expect(pages.get_by_role("button", name="Previous")).to_be_focused()


def test_column_sorts_all_pages_down_up_and_not(topics: Page) -> None:
    expect(names(topics)).to_have_count(PAGE_ROWS)
    first = names(topics).first.inner_text()

    sort_by(topics, "Partitions")
    expect(names(topics).nth(0)).to_have_text("topic-7")
    expect(names(topics).nth(1)).to_have_text("topic-400")
    expect(topics.get_by_role("columnheader", name="Partitions")).to_have_attribute("aria-sort", "descending")
    sort_by(topics, "Partitions")
    turn(topics, "Next")
    turn(topics, "Next")
    sort_by(topics, "Partitions")

    expect(names(topics).first).to_have_text(first)
    expect(topics.locator("[aria-sort]")).to_have_count(0)


def test_names_with_numbers_are_in_the_order_of_the_numbers(topics: Page) -> None:
    sort_by(topics, "Name")

    expect(names(topics).nth(10)).to_have_text("topic-10")
    sort_by(topics, "Name")
    expect(names(topics).first).to_have_text(f"topic-{TOPICS - 1}")


def test_address_has_the_filter_and_back_shows_the_same_page_in_the_same_order(topics: Page) -> None:
    topics.get_by_role("searchbox", name="Search topics").fill("topic-4")
    sort_by(topics, "Name")
    turn(topics, "Next")
    expect(names(topics)).to_have_count(11)
    shown = names(topics).all_inner_texts()
    assert topics.url.endswith("#topics?name=topic-4")

    names(topics).first.get_by_role("link").click()
    expect(topics.get_by_role("heading", level=1)).to_contain_text("/")
    topics.go_back()
    expect(names(topics)).to_have_text(shown)
    topics.reload()
    expect(names(topics)).to_have_text(shown)
    expect(topics.get_by_role("searchbox", name="Search topics")).to_have_value("topic-4")


def test_list_that_changes_keeps_its_page_and_order(topics: Page, many_topics: Serving) -> None:
    assert many_topics.admin is not None
    admin = AdminClient(many_topics.admin)
    topics.get_by_role("searchbox", name="Search topics").fill("topic-")
    sort_by(topics, "Records")
    turn(topics, "Next")
    expect(names(topics).first).to_be_visible()

    admin.post("/v1/topics/topic-500/records", {"records": [{"value": "a"}]})

    turn(topics, "Previous")
    expect(names(topics).first).to_have_text("topic-500")
    expect(topics.get_by_role("row").nth(1).get_by_role("cell").nth(2)).to_have_text("1")


def test_filter_without_a_match_says_so(topics: Page) -> None:
    topics.get_by_role("searchbox", name="Search topics").fill("no such name")

    expect(topics.get_by_role("heading", name="No such topic")).to_be_visible()


def test_button_to_the_right_of_the_tools_stays_while_the_filter_is_typed(topics: Page) -> None:
    create = topics.get_by_role("button", name="Create topic")
    expect(names(topics)).to_have_count(PAGE_ROWS)
    before = create.bounding_box()

    topics.get_by_role("searchbox", name="Search topics").fill("topic-50")

    expect(names(topics)).to_have_count(2)
    assert create.bounding_box() == before

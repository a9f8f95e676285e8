"""The topics: the list with create and delete, the offsets of one topic, its producers, and changes of them."""

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Browser, Locator, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .conftest import WIDE
from .open_page import opened

pytestmark = pytest.mark.page
PRESS_MS = 2500

BAD_REQUEST = "400"


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=True))


def show_topic(page: Page, name: str) -> None:
    page.get_by_role("link", name="Topics").click()
    page.get_by_role("link", name=name, exact=True).click()


def test_list_has_partitions_records_and_size_and_follows_appends(page: Page, admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "orders", "partitions": 3})
    page.get_by_role("link", name="Topics").click()
    expect(row(page, "orders").get_by_role("cell")).to_have_text(["nothing sent", "3", "0", "0 B", "Delete"])

    admin.post("/v1/topics/orders/records", {"records": [{"value": "a"}] * 7})

    expect(row(page, "orders").get_by_role("cell").nth(2)).to_have_text("7")


def test_internal_topics_are_shown_on_demand(page: Page, broker: Serving) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "transfers"})
    producer.init_transactions(20)
    page.get_by_role("link", name="Topics").click()
    expect(row(page, TOPIC)).to_be_visible()
    state = page.get_by_role("link", name="__transaction_state")
    expect(state).to_have_count(0)

    page.get_by_role("checkbox", name="internal").check()

    expect(state).to_be_visible()


def test_search_shows_the_topics_with_that_text(page: Page, admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "orders"})
    page.get_by_role("link", name="Topics").click()
    expect(row(page, TOPIC)).to_be_visible()

    page.get_by_role("searchbox", name="Search topics").fill("ord")

    expect(row(page, TOPIC)).to_have_count(0)
    expect(row(page, "orders")).to_be_visible()
    expect(page.get_by_text("1 of 2 topics")).to_be_visible()


@pytest.mark.slice
def test_topic_is_created_and_deleted_after_a_question(page: Page, admin: AdminClient) -> None:
    page.get_by_role("link", name="Topics").click()
    page.get_by_role("button", name="Create topic").click()
    page.get_by_role("textbox", name="Name").fill("orders")
    page.get_by_role("spinbutton", name="Partitions").fill("2")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(row(page, "orders").get_by_role("cell").nth(1)).to_have_text("2")

    page.get_by_role("button", name="Delete orders").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert admin.call("GET", "/v1/topics/orders").status == 200
    page.get_by_role("button", name="Delete orders").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(row(page, "orders")).to_have_count(0)
    assert admin.call("GET", "/v1/topics/orders").status == 404


def test_press_over_a_change_of_the_list_is_a_click(page: Page, admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "orders"})
    page.goto(page.url.partition("#")[0] + "#topics")
    delete = page.get_by_role("button", name="Delete orders")
    delete.hover()

    page.mouse.down()
    admin.post("/v1/topics", {"name": "payments"})
    # Longer than the list waits before it is drawn again.
    page.wait_for_timeout(PRESS_MS)
    expect(row(page, "payments")).to_have_count(0)
    page.mouse.up()

    expect(page.get_by_role("dialog")).to_contain_text("orders")
    expect(row(page, "payments")).to_have_count(1)


def test_refused_topic_is_explained_at_its_field(browser: Browser, broker: Serving) -> None:
    with opened(browser, f"{broker.admin}/#topics", size=WIDE, expected=(BAD_REQUEST,)) as page:
        page.get_by_role("button", name="Create topic").click()
        name = page.get_by_role("textbox", name="Name")
        name.fill("a topic")
        page.get_by_role("button", name="Create", exact=True).click()

        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("INVALID_TOPIC_EXCEPTION")
        expect(name).to_have_attribute("aria-invalid", "true")
        expect(name).to_be_focused()


def test_topic_has_the_offsets_of_its_partitions_and_its_configs(page: Page, admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "orders", "partitions": 2, "configs": {"retention.ms": -1}})
    admin.post("/v1/topics/orders/records", {"records": [{"value": "a", "partition": 1}] * 5})
    show_topic(page, "orders")

    # Leader and its epoch; start, last stable, high watermark and end; then size and producers.
    cells = row(page, "1").get_by_role("cell")
    expect(cells.nth(0)).to_have_text("1")
    expect(cells.nth(2)).to_have_text("0")
    expect(cells.nth(3)).to_have_text("5")
    expect(cells.nth(4)).to_have_text("5")
    expect(cells.nth(5)).to_have_text("5")
    expect(cells).to_have_count(8)
    expect(page.get_by_role("region", name="Configs")).to_contain_text("retention.ms-1")


@pytest.fixture
def producer_1(broker: Serving, admin: AdminClient, page: Page) -> Locator:
    """Producer 1, which has appended sequences 0 to 6, on the page of its topic."""
    with TopicClient(broker.bootstrap) as client:
        for sequence in range(7):
            client.produce(sequence)
    show_topic(page, TOPIC)
    return page.get_by_role("article", name="Producer 1 of partition 0")


def test_window_of_a_producer_has_its_five_newest_batches(producer_1: Locator) -> None:
    expect(producer_1.get_by_role("listitem")).to_have_text([f"{number}offset {number}" for number in range(2, 7)])
    expect(producer_1).to_contain_text("next sequence 7")


def test_evicted_cache_leaves_the_next_sequence(producer_1: Locator) -> None:
    producer_1.get_by_role("button", name="Evict cache").click()

    expect(producer_1.get_by_role("listitem")).to_have_count(0)
    expect(producer_1).to_contain_text("next sequence 7")


def test_producer_is_fenced_and_its_button_keeps_the_focus(producer_1: Locator) -> None:
    fence = producer_1.get_by_role("button", name="Bump epoch")

    fence.click()

    expect(producer_1).to_contain_text("epoch 1, next sequence 0")
    expect(fence).to_be_focused()


@pytest.mark.parametrize("name", ["Forget", "Expire"])
def test_producer_is_removed(producer_1: Locator, page: Page, name: str) -> None:
    producer_1.get_by_role("button", name=name).click()

    expect(producer_1).to_have_count(0)
    expect(page.get_by_text("No idempotent producer has written to this topic.")).to_be_visible()


def test_open_transaction_of_a_producer_is_marked(page: Page, broker: Serving) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "transfers"})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(TOPIC, b"pending")
    producer.flush()
    show_topic(page, TOPIC)

    card = page.get_by_role("article", name="of partition 0")
    expect(card).to_contain_text("Open transactionsince offset 0")

    producer.commit_transaction()

    expect(card).to_contain_text("Open transactionnone")


def test_deleted_topic_is_said_to_be_missing(browser: Browser, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "orders"})
    with opened(browser, f"{broker.admin}/#topics/orders", size=WIDE, expected=("404",)) as page:
        expect(row(page, "0")).to_be_visible()

        admin.delete("/v1/topics/orders")

        expect(page.get_by_text("there is no topic 'orders'").first).to_be_visible()
        expect(row(page, "0")).to_have_count(0)


def test_topic_with_markup_in_a_config_is_shown_as_text(page: Page, admin: AdminClient) -> None:
    key, value = "<b>key</b>", "<img src=x onerror=alert(1)>"
    admin.post(f"/v1/topics/{TOPIC}/records", {"records": [{"key": key, "value": value}]})

    show_topic(page, TOPIC)

    expect(page.get_by_role("region", name="Records").get_by_text(value).first).to_be_visible()
    expect(page.locator("main img, main b")).to_have_count(0)

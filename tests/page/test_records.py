"""The records of a topic: decoded, a page at a time, searched, and appended by a form."""

import re
from collections.abc import Mapping

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Browser, Locator, Page, Route, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving
from .conftest import WIDE
from .open_page import opened

pytestmark = pytest.mark.page

NARROW = (390, 800)
PATH = f"/v1/topics/{TOPIC}/records"
# One call of the API accepts 1 MiB, and a log batches of 1 MiB.
VALUE_BYTES = 1_000_000


def seed(admin: AdminClient, *records: Mapping[str, object]) -> None:
    admin.post(PATH, {"records": list(records)})


def show_topic(page: Page) -> None:
    page.get_by_role("link", name="Topics").click()
    page.get_by_role("link", name=TOPIC, exact=True).click()


def records(page: Page) -> Locator:
    return page.get_by_role("region", name="Records").locator("details")


def search(page: Page, where: str, wanted: str) -> Locator:
    """Search, and return the part with the results."""
    part = page.get_by_role("region", name="Search")
    part.get_by_role("textbox", name="Search in").fill(where)
    part.get_by_role("searchbox", name="Search for").fill(wanted)
    part.get_by_role("button", name="Search").click()
    return part


@pytest.mark.slice
def test_json_is_indented_and_its_numbers_stay(page: Page, admin: AdminClient) -> None:
    seed(admin, {"key": "order-1", "value": '{"id": 12345678901234567890, "lines": [], "note": "a, b"}'})
    show_topic(page)

    records(page).get_by_text("order-1").click()

    value = page.get_by_label("Value", exact=True)
    expect(value).to_have_text(
        '{\n  "id": 12345678901234567890,\n  "lines": [],\n  "note": "a, b"\n}', use_inner_text=True
    )


def test_bytes_that_are_no_text_are_shown_in_hex_and_text_on_demand(page: Page, admin: AdminClient) -> None:
    seed(admin, {"key": {"base64": "//4="}, "value": "plain"})
    show_topic(page)
    expect(records(page).first).to_contain_text("ff fe")
    expect(records(page).first).to_contain_text("plain")

    page.get_by_label("Show as").select_option("hex")

    expect(records(page).first).to_contain_text("70 6c 61 69 6e")


def test_null_is_no_empty_text(page: Page, admin: AdminClient) -> None:
    seed(admin, {"key": "deleted", "value": None}, {"key": "empty", "value": ""})
    show_topic(page)

    expect(records(page).filter(has_text="deleted")).to_contain_text("null")
    expect(records(page).filter(has_text="empty")).not_to_contain_text("null")


def test_record_opens_to_its_headers_and_producer(page: Page, broker: Serving) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
    producer.produce(TOPIC, b"one coffee", headers=[("event-id", b"e1")])
    producer.flush()
    show_topic(page)

    records(page).first.locator("summary").press("Enter")

    opened_record = records(page).first
    expect(opened_record.get_by_role("heading", name="Headers")).to_be_visible()
    for text in ("event-ide1", "Producer epoch0", "Sequence0", "CreateTime"):
        expect(opened_record).to_contain_text(text)


def test_markers_and_records_of_transactions_are_marked(page: Page, broker: Serving) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "transfers"})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(TOPIC, b"taken back")
    producer.flush()
    producer.abort_transaction()
    producer.begin_transaction()
    producer.produce(TOPIC, b"pending")
    producer.flush()
    show_topic(page)

    expect(records(page).nth(0)).to_contain_text("taken backaborted")
    expect(records(page).nth(1)).to_contain_text("abort marker")
    expect(records(page).nth(2)).to_contain_text("pendingopen transaction")
    producer.abort_transaction()


def test_pages_go_from_the_newest_to_the_oldest_and_to_an_offset(page: Page, admin: AdminClient) -> None:
    seed(admin, *({"value": f"value {number}"} for number in range(120)))
    show_topic(page)
    part = page.get_by_role("region", name="Records")
    expect(part).to_contain_text("offsets 70 to 119 of 0 to 119")
    expect(part.get_by_role("button", name="Newer")).to_be_disabled()

    part.get_by_role("button", name="Older").click()
    expect(part).to_contain_text("offsets 20 to 69 of 0 to 119")
    part.get_by_role("button", name="Oldest").click()
    expect(part).to_contain_text("offsets 0 to 49 of 0 to 119")
    expect(part.get_by_role("button", name="Older")).to_be_disabled()
    part.get_by_role("spinbutton", name="From offset").fill("100")
    part.get_by_role("spinbutton", name="From offset").press("Enter")

    expect(part).to_contain_text("offsets 100 to 119 of 0 to 119")
    expect(records(page).first).to_contain_text("value 100")


def test_newest_records_are_shown_where_few_fit_into_a_page(page: Page, admin: AdminClient) -> None:
    for _ in range(6):
        seed(admin, *({"value": "y" * 100_000} for _ in range(10)))
    show_topic(page)

    part = page.get_by_role("region", name="Records")
    expect(part).to_contain_text("to 59 of 0 to 59")
    expect(part.get_by_role("button", name="Newer")).to_be_disabled()


def test_address_names_partition_and_offset(browser: Browser, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "orders", "partitions": 2})
    records_of_orders = [{"value": f"value {number}", "partition": 1} for number in range(5)]
    admin.post("/v1/topics/orders/records", {"records": records_of_orders})

    with opened(browser, f"{broker.admin}/#topics/orders/1/3", size=WIDE) as page:
        expect(page.get_by_role("combobox", name="Partition")).to_have_value("1")
        expect(page.get_by_label("Value", exact=True)).to_have_text("value 3")


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_large_value_is_cut_until_a_person_wants_all(
    browser: Browser, broker: Serving, admin: AdminClient, size: tuple[int, int]
) -> None:
    seed(admin, {"key": "big", "value": "y" * VALUE_BYTES})

    with opened(browser, f"{broker.admin}/#topics/{TOPIC}/0/0", size=size) as page:
        value = page.get_by_label("Value", exact=True)
        expect(value).to_have_text("y" * 8000 + "…")
        assert page.evaluate("document.documentElement.scrollWidth") == size[0]
        page.get_by_role("button", name="Show all 1.0 MB").click()

        expect(value).to_have_text("y" * VALUE_BYTES)
        assert page.evaluate("document.querySelector('main').scrollWidth") <= size[0]


@pytest.mark.slice
def test_search_finds_an_event_id_in_any_partition(page: Page, admin: AdminClient) -> None:
    admin.post("/v1/topics", {"name": "orders", "partitions": 3})
    copies = [
        {"value": "x", "partition": number, "headers": [{"name": "event-id", "value": "e7"}]} for number in (0, 2)
    ]
    others = [{"value": "x", "partition": 1, "headers": [{"name": "other", "value": "e7"}]}] * 5
    admin.post("/v1/topics/orders/records", {"records": [*copies, *others]})
    page.get_by_role("link", name="Topics").click()
    page.get_by_role("link", name="orders", exact=True).click()
    expect(page.get_by_role("region", name="Records").locator("details")).to_have_count(1)

    part = search(page, "header:event-id", "e7")

    expect(part).to_contain_text("2 found · searched 7 of 7 records")
    part.locator("details").nth(1).locator("summary").click()
    part.get_by_role("button", name="Show in its partition").click()
    expect(page.get_by_role("combobox", name="Partition")).to_have_value("2")


def test_search_finds_a_key(page: Page, admin: AdminClient) -> None:
    seed(admin, *({"key": f"order-{number}", "value": "x"} for number in range(3000)))
    show_topic(page)

    part = search(page, "key", "order-2999")

    expect(part).to_contain_text("1 found · searched 3,000 of 3,000 records")
    expect(part.locator("details")).to_contain_text("order-2999")


def test_search_stops_and_continues(page: Page, admin: AdminClient) -> None:
    for _ in range(6):
        seed(admin, *({"key": "k"} for _ in range(5000)))
    show_topic(page)
    part = page.get_by_role("region", name="Search")

    def stop_and_continue(route: Route) -> None:
        part.get_by_role("button", name="Stop").click()
        route.continue_()

    # The second call of the search waits until the test has stopped it.
    page.route(
        lambda url: url.endswith("/records/search"),
        lambda route: (
            stop_and_continue(route) if "since" in (route.request.post_data_json or {}) else route.continue_()
        ),
    )

    search(page, "key", "no such key")
    expect(part).to_contain_text(re.compile(r"searched 2\d,\d{3} of 30,000 records"))
    expect(part.get_by_role("button", name="Stop")).to_be_hidden()
    # The search goes on with what it looked for, whatever the field has now.
    part.get_by_role("searchbox", name="Search for").fill("k")
    page.unroute_all()
    part.get_by_role("button", name="Continue").click()

    expect(part).to_contain_text("0 found · searched 30,000 of 30,000 records")
    expect(part.get_by_role("button", name="Continue")).to_be_hidden()


def test_form_appends_a_record_and_shows_it(page: Page, admin: AdminClient) -> None:
    show_topic(page)
    page.get_by_role("button", name="Append record").click()
    page.get_by_role("textbox", name="Key").fill("order-1")
    page.get_by_role("textbox", name="Value").fill("one coffee")
    page.get_by_role("textbox", name="Header").fill("event-id=e=1")
    page.get_by_role("button", name="Append", exact=True).click()

    expect(page.get_by_label("Value", exact=True)).to_have_text("one coffee")
    (record,) = admin.get(PATH)["items"]
    assert (record["key"], record["value"]) == ("order-1", "one coffee")
    assert record["headers"] == [{"name": "event-id", "value": "e=1"}]


def test_first_records_of_an_empty_partition_appear(page: Page, broker: Serving) -> None:
    show_topic(page)
    expect(page.get_by_text("This partition has no records.")).to_be_visible()

    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    expect(records(page)).to_contain_text(["value 0"])


def test_panel_of_a_batch_has_its_header_in_the_log(page: Page, broker: Serving, admin: AdminClient) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
        client.produce(5)
    (header,) = admin.get(f"/v1/topics/{TOPIC}/batches")["items"]

    page.get_by_role("option", name="appended at offset 0").click()
    panel = page.get_by_role("region", name="Request")
    panel.get_by_text("Header in the log").click()
    for text in ("Batch length", f"0x{header['crc']:08x}", "compression none, CreateTime", "Records count1"):
        expect(panel).to_contain_text(text)
    panel.get_by_role("link", name="appended at offset 0", exact=True).click()
    expect(page.get_by_label("Value", exact=True)).to_have_text("value 0")
    page.go_back()
    page.get_by_role("option", name="refused: OUT_OF_ORDER_SEQUENCE_NUMBER").click()

    expect(panel).to_contain_text("Expected sequence1")
    expect(panel).to_contain_text("Received sequence5")

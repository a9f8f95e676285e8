"""The transactions: their state as it changes, and the deletion that aborts an open one."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from playwright.sync_api import Locator, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving

pytestmark = pytest.mark.page


@pytest.fixture
def producer(broker: Serving) -> Iterator[Producer]:
    """A producer with an open transaction of one record."""
    made = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "transfers"})
    made.init_transactions(20)
    made.begin_transaction()
    made.produce(TOPIC, b"pending")
    made.flush()
    yield made
    made.purge()


def row(page: Page) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="transfers"))


def test_page_without_transactions_says_what_makes_one(page: Page) -> None:
    page.get_by_role("link", name="Transactions").click()

    expect(page.get_by_role("heading", name="No transactions")).to_be_visible()


def test_state_and_partitions_follow_the_transaction(page: Page, producer: Producer) -> None:
    page.get_by_role("link", name="Transactions").click()
    cells = row(page).get_by_role("cell")
    expect(cells.nth(0)).to_have_text("Ongoing")
    expect(cells.nth(3)).to_have_text("1 min")
    expect(cells.nth(5)).to_have_text(f"{TOPIC}-0 ")

    producer.commit_transaction()

    expect(cells.nth(0)).to_have_text("CompleteCommit")
    expect(cells.nth(5)).to_have_text("none")


@pytest.mark.slice
@pytest.mark.usefixtures("producer")
def test_deletion_aborts_the_open_transaction(page: Page, admin: AdminClient) -> None:
    page.get_by_role("link", name="Transactions").click()
    page.get_by_role("button", name="Delete transfers").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("Its open transaction is aborted first.")

    question.get_by_role("button", name="Delete").click()

    expect(page.get_by_role("heading", name="No transactions")).to_be_visible()
    records = admin.get(f"/v1/topics/{TOPIC}/records")["items"]
    assert [record["transaction"] for record in records] == ["aborted", "aborted"]

"""What a person does to groups and transactional ids, and what leads from one view to another."""

import re

import pytest
from confluent_kafka import Producer, TopicPartition
from playwright.sync_api import Locator, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving
from .test_groups import consuming, row

pytestmark = pytest.mark.page

RECORDS = 10
TRANSACTIONAL_ID = "payouts"


@pytest.fixture(autouse=True)
def ten_records(admin: AdminClient) -> None:
    admin.post(f"/v1/topics/{TOPIC}/records", {"records": [{"value": "a"}] * RECORDS})


def set_offset(admin: AdminClient, offset: int) -> None:
    """Have the group `billing` a committed offset."""
    answer = admin.call(
        "PUT", "/v1/groups/billing/offsets", {"offsets": [{"topic": TOPIC, "partition": 0, "offset": offset}]}
    )
    assert answer.status == 200


def offset_cells(page: Page) -> Locator:
    """Partition, committed offset, lag, log end and member of the first row."""
    return page.get_by_role("region", name="Committed offsets").get_by_role("row").nth(1).get_by_role("cell")


def test_offsets_are_reset_in_a_form(page: Page, broker: Serving, admin: AdminClient) -> None:
    set_offset(admin, 4)
    page.goto(f"{broker.admin}/#groups/billing")
    page.get_by_role("button", name="Reset offsets").click()
    page.get_by_role("dialog").get_by_role("combobox").select_option("so many further, or back")
    page.get_by_label("Offset, time or number").fill("-3")

    page.get_by_role("button", name="Reset", exact=True).click()

    expect(offset_cells(page).nth(1)).to_have_text("1")
    expect(offset_cells(page).nth(2)).to_have_text("9")


def test_reset_of_a_group_with_members_shows_the_sentence_of_kafkas_tool(refused_page: Page, broker: Serving) -> None:
    with consuming(broker, "classic", "billing"):
        refused_page.goto(f"{broker.admin}/#groups/billing")
        refused_page.get_by_role("button", name="Reset offsets").click()
        refused_page.get_by_role("dialog").get_by_label("Topic").fill(TOPIC)
        refused_page.get_by_role("button", name="Reset", exact=True).click()

        expect(refused_page.get_by_role("alert")).to_have_text(
            "Assignments can only be reset if the group 'billing' is inactive, but the current state is Stable."
        )


def test_partition_without_a_committed_offset_has_a_dash_and_its_member(page: Page, broker: Serving) -> None:
    with consuming(broker, "consumer", "billing"):
        page.goto(f"{broker.admin}/#groups/billing")

        expect(offset_cells(page)).to_have_text(["0", "-", "-", str(RECORDS), "reader", "none", "none"])
        expect(page.get_by_text("0, and 1 partition without a committed offset")).to_be_visible()


def test_offsets_and_group_are_deleted(page: Page, broker: Serving, admin: AdminClient) -> None:
    set_offset(admin, 4)
    page.goto(f"{broker.admin}/#groups/billing")
    page.get_by_role("button", name="Delete offsets").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("The group has committed none")).to_be_visible()

    page.get_by_role("button", name="Delete group").click()
    page.get_by_role("button", name="Delete", exact=True).click()

    expect(page.get_by_role("heading", name="No groups")).to_be_visible()
    assert admin.get("/v1/groups")["items"] == []


def test_evicted_member_joins_again(page: Page, broker: Serving) -> None:
    with consuming(broker, "classic", "billing") as consumer:
        page.goto(f"{broker.admin}/#groups/billing")
        evict = page.get_by_role("button", name="Evict").first
        before = evict.get_attribute("aria-label")
        evict.click()
        page.get_by_role("button", name="Evict", exact=True).last.click()
        expect(page.get_by_role("heading", name="0 members")).to_be_visible()

        while page.get_by_role("button", name="Evict").count() == 0:
            consumer.poll(0.2)

        expect(page.get_by_role("heading", name="1 member")).to_be_visible()
        assert page.get_by_role("button", name="Evict").first.get_attribute("aria-label") != before


@pytest.mark.slice
def test_open_transaction_is_aborted_and_its_id_is_fenced(page: Page, broker: Serving, admin: AdminClient) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": TRANSACTIONAL_ID})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(TOPIC, "one", partition=0)
    producer.flush()
    page.goto(f"{broker.admin}/#transactions")

    page.get_by_role("button", name=f"Abort {TRANSACTIONAL_ID}").click()
    page.get_by_role("button", name="Abort", exact=True).last.click()

    expect(row(page, TRANSACTIONAL_ID)).to_contain_text("CompleteAbort")
    expect(page.get_by_role("button", name=f"Abort {TRANSACTIONAL_ID}")).to_have_count(0)
    epoch = admin.get(f"/v1/transactions/{TRANSACTIONAL_ID}")["producer_epoch"]
    page.get_by_role("button", name=f"Fence {TRANSACTIONAL_ID}").click()
    page.get_by_role("button", name="Fence", exact=True).last.click()
    expect(row(page, TRANSACTIONAL_ID)).to_contain_text("Empty")
    assert admin.get(f"/v1/transactions/{TRANSACTIONAL_ID}")["producer_epoch"] > epoch


def test_topic_leads_to_its_verdict_its_requests_and_its_groups(
    page: Page, broker: Serving, admin: AdminClient
) -> None:
    set_offset(admin, 4)
    page.goto(f"{broker.admin}/#topics/{TOPIC}")
    # The verdicts are read at once.
    page.reload()

    mark = page.get_by_role("heading", level=1).get_by_role("link", name="Verdict")
    expect(mark).to_have_text("Verdict clean")
    expect(page.get_by_role("heading", level=1).get_by_role("link", name="Requests")).to_have_attribute(
        "href", re.compile(f"^#timeline/topic(=|%3D){TOPIC}$")
    )
    groups = page.get_by_role("region", name="Groups of the topic").get_by_role("row").nth(1)
    expect(groups).to_contain_text("billingEmpty06nothing delivered")
    groups.get_by_role("link", name="billing").click()
    offset_cells(page).get_by_role("link", name="4").click()
    expect(page.get_by_role("region", name="Records")).to_contain_text("offsets 4 to 9")
    mark.click()
    page.get_by_role("link", name="Topic", exact=True).click()
    expect(mark).to_be_visible()


def test_findings_of_groups_count_at_the_link_to_the_verdict(page: Page, broker: Serving, admin: AdminClient) -> None:
    with consuming(broker, "classic", "billing", auto_offset_reset="earliest") as consumer:
        for offset in (4, 2):
            consumer.commit(offsets=[TopicPartition(TOPIC, 0, offset)], asynchronous=False)
    (summary,) = admin.get("/v1/group-verdicts")["items"]
    assert summary["findings"] > 0
    # The verdicts are read at once.
    page.reload()

    link = page.get_by_role("navigation", name="Views").get_by_role("link", name="Verdict")
    expect(link).to_have_text(f"Verdict{summary['findings']}")
    link.click()

    found = page.get_by_role("table", name="Groups").get_by_role("row").nth(1)
    expect(found).to_contain_text("billing")
    expect(found).to_contain_text(f"{summary['findings']} finding")
    found.get_by_role("link", name="billing").click()
    expect(page.get_by_role("region", name="Verdict", exact=True).get_by_role("listitem").first).to_be_visible()

"""The groups: the list, and the members, assignments, offsets and lag of one group of each type."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer, TopicPartition
from playwright.sync_api import Locator, Page, expect

from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving
from ..wire.message_client import MessageClient

pytestmark = pytest.mark.page

POLL_SECONDS = 0.2


@contextmanager
def consuming(broker: Serving, group_protocol: str, group_id: str) -> Generator[Consumer]:
    """Join a group, and return when it has assigned the partition of the topic."""
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": group_id, "client.id": "reader"}
    consumer = Consumer({**settings, "group.protocol": group_protocol, "enable.auto.commit": False})
    consumer.subscribe([TOPIC])
    try:
        while not consumer.assignment():
            consumer.poll(POLL_SECONDS)
        yield consumer
    finally:
        consumer.close()


@pytest.fixture(autouse=True)
def ten_records(admin: AdminClient) -> None:
    admin.post(f"/v1/topics/{TOPIC}/records", {"records": [{"value": "a"}] * 10})


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name))


def test_page_without_groups_says_what_makes_one(page: Page) -> None:
    page.get_by_role("link", name="Groups").click()

    expect(page.get_by_role("heading", name="No groups")).to_be_visible()


@pytest.mark.slice
@pytest.mark.parametrize(("protocol", "assignor"), [("classic", "range"), ("consumer", "uniform")])
def test_group_has_its_members_assignment_and_lag(page: Page, broker: Serving, protocol: str, assignor: str) -> None:
    page.get_by_role("link", name="Groups").click()
    with consuming(broker, protocol, "billing") as consumer:
        consumer.commit(offsets=[TopicPartition(TOPIC, 0, 4)], asynchronous=False)

        cells = row(page, "billing").get_by_role("cell")
        expect(cells).to_have_text([protocol, "Stable", assignor, "1", "6"])
        page.get_by_role("link", name="billing").click()
        members = page.get_by_role("region", name="Members")
        expect(members.get_by_role("row").nth(1)).to_contain_text("reader127.0.0.1none")
        expect(members.get_by_role("row").nth(1)).to_contain_text(f"{TOPIC}: 0")
        offsets = page.get_by_role("region", name="Committed offsets")
        expect(offsets.get_by_role("row").nth(1).get_by_role("cell").nth(1)).to_have_text("4")
        expect(offsets.get_by_role("row").nth(1).get_by_role("cell").nth(2)).to_have_text("6")
    expect(page.get_by_role("heading", name="0 members")).to_be_visible()
    expect(offsets).to_be_visible()


def test_lag_follows_appended_records(page: Page, broker: Serving, admin: AdminClient) -> None:
    with consuming(broker, "classic", "billing") as consumer:
        consumer.commit(offsets=[TopicPartition(TOPIC, 0, 10)], asynchronous=False)
        page.get_by_role("link", name="Groups").click()
        lag = row(page, "billing").get_by_role("cell").last
        expect(lag).to_have_text("0")

        admin.post(f"/v1/topics/{TOPIC}/records", {"records": [{"value": "a"}] * 3})

        expect(lag).to_have_text("3")


def test_share_group_has_its_member_with_its_epoch(page: Page, broker: Serving) -> None:
    request = ShareGroupHeartbeatRequest(
        group_id="sharers", member_id="one", member_epoch=0, subscribed_topic_names=[TOPIC]
    )
    with MessageClient(broker.bootstrap) as connection:
        connection.call(request, 1)
        page.get_by_role("link", name="Groups").click()
        expect(row(page, "sharers").get_by_role("cell").first).to_have_text("share")
        page.get_by_role("link", name="sharers").click()

        member = page.get_by_role("region", name="Members").get_by_role("row").nth(1)
        expect(member.get_by_role("rowheader")).to_have_text("one")
        expect(member.get_by_role("cell").nth(3)).to_have_text("2")

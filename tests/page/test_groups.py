"""The groups: the list, and the members, assignments, offsets and lag of one group of each type."""

from base64 import urlsafe_b64decode
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
from ..wire.share_member import ACCEPT, RELEASE, ShareMember
from ..wire.streams_member import beat

pytestmark = pytest.mark.page

POLL_SECONDS = 0.2
RECORDS = 10


@contextmanager
def consuming(broker: Serving, group_protocol: str, group_id: str, **settings: str) -> Generator[Consumer]:
    """Join a group, and return when it has assigned the partition of the topic. settings: with underscores for dots."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    given |= {"bootstrap.servers": broker.bootstrap, "group.id": group_id, "client.id": "reader"}
    consumer = Consumer({**given, "group.protocol": group_protocol, "enable.auto.commit": False})
    consumer.subscribe([TOPIC])
    try:
        while not consumer.assignment():
            consumer.poll(POLL_SECONDS)
        yield consumer
    finally:
        consumer.close()


@pytest.fixture(autouse=True)
def ten_records(admin: AdminClient) -> None:
    admin.post(
        f"/v1/topics/{TOPIC}/records", {"records": [{"key": f"k{number}", "value": "a"} for number in range(RECORDS)]}
    )


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


def read_all_and_commit(consumer: Consumer, offset: int) -> None:
    """Read the ten records, and commit an offset."""
    place = TopicPartition(TOPIC, 0)
    # The poll in which the consumer got its assignment may have returned a record.
    while consumer.position([place])[0].offset < RECORDS:
        consumer.poll(POLL_SECONDS)
    consumer.commit(offsets=[TopicPartition(TOPIC, 0, offset)], asynchronous=False)


def show_group(page: Page, broker: Serving, group: str) -> Locator:
    """Show a group, and return its verdict."""
    page.goto(f"{broker.admin}/#groups/{group}")
    return page.get_by_role("region", name="Verdict", exact=True)


@pytest.mark.slice
def test_verdict_names_what_was_delivered_twice_and_opens_its_requests(
    page: Page, broker: Serving, admin: AdminClient
) -> None:
    for offset in (4, RECORDS):
        # The first reader leaves without the commit of what it has read last.
        with consuming(broker, "classic", "billing", auto_offset_reset="earliest") as consumer:
            read_all_and_commit(consumer, offset)
    (found,) = admin.get("/v1/verdict", group="billing")["findings"]

    verdict = show_group(page, broker, "billing")

    expect(verdict.get_by_text("1 finding", exact=True)).to_be_visible()
    cells = verdict.get_by_role("region", name="Delivered").get_by_role("row").nth(1).get_by_role("cell")
    expect(cells).to_have_text(["0", "10", "10", "commits", "10", "0"])
    finding = verdict.get_by_role("listitem")
    expect(finding).to_contain_text("Delivered twice")
    expect(finding).to_contain_text(found["why"])
    expect(finding).to_contain_text(f"{TOPIC}-0 · offsets 4..9 · keys k4, k5, k6, k7, k8")
    links = [f"request {each}" for each in found["request_ids"]]
    expect(finding.get_by_role("link")).to_have_text([*links, "record 4"])
    finding.get_by_role("link").first.click()
    expect(page.get_by_role("region", name=f"Request {found['request_ids'][0]}")).to_be_visible()


def test_request_of_a_group_leads_to_its_group_and_its_topics(page: Page, broker: Serving) -> None:
    with consuming(broker, "classic", "billing", auto_offset_reset="earliest") as consumer:
        read_all_and_commit(consumer, RECORDS)
    page.goto(f"{broker.admin}/#timeline/api=OffsetCommit")
    page.get_by_role("listbox", name="Requests").get_by_role("option").first.click()
    panel = page.get_by_role("region", name="Request")

    panel.get_by_role("link", name="billing", exact=True).click()
    expect(page).to_have_url(f"{broker.admin}/#groups/billing")
    page.go_back()
    panel.get_by_role("link", name=TOPIC, exact=True).click()
    expect(page).to_have_url(f"{broker.admin}/#topics/{TOPIC}")


def test_verdict_on_a_group_changes_with_its_requests(page: Page, broker: Serving) -> None:
    with consuming(broker, "classic", "billing", auto_offset_reset="earliest") as consumer:
        verdict = show_group(page, broker, "billing")
        cells = verdict.get_by_role("region", name="Delivered").get_by_role("row").nth(1).get_by_role("cell")
        expect(cells).to_have_text(["0", "10", "0", "commits", "none", "10"])

        read_all_and_commit(consumer, RECORDS)

        expect(cells).to_have_text(["0", "10", "10", "commits", "10", "0"])
        expect(verdict.get_by_text("clean", exact=True)).to_be_visible()


def test_processed_records_are_those_of_the_reports(page: Page, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/processed", {"group": "billing", "topic": TOPIC, "partition": 0, "offset": [0, 1, 1]})
    with consuming(broker, "classic", "billing", auto_offset_reset="earliest") as consumer:
        read_all_and_commit(consumer, 2)

    verdict = show_group(page, broker, "billing")

    cells = verdict.get_by_role("region", name="Delivered").get_by_role("row").nth(1).get_by_role("cell")
    expect(cells).to_have_text(["0", "10", "2", "reports", "2", "8"])
    expect(verdict.get_by_role("listitem")).to_contain_text("the application processed them 2 times")


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


def test_streams_group_has_its_subtopologies_and_the_tasks_of_its_members(
    page: Page, broker: Serving, admin: AdminClient
) -> None:
    admin.post("/v1/topics", {"name": "orders", "partitions": 2})
    joined = beat(broker.bootstrap, "one", 0)
    # The first assignment of a group waits for more members.
    admin.post("/v1/clock", {"advance_ms": 5000})
    beat(broker.bootstrap, "one", joined.member_epoch)
    page.get_by_role("link", name="Groups").click()
    expect(row(page, "app").get_by_role("cell").first).to_have_text("streams")
    page.get_by_role("link", name="app").click()

    subtopology = page.get_by_role("region", name="Subtopologies").get_by_role("row").nth(1)
    expect(subtopology.get_by_role("cell")).to_have_text(["orders", "none", "none", "app-changelog"])
    member = page.get_by_role("region", name="Members").get_by_role("row").nth(1)
    expect(member.get_by_role("rowheader")).to_have_text("one")
    expect(member).to_contain_text("process-one")
    expect(member).to_contain_text("0_0, 0_1")


def test_verdict_on_a_share_group_has_its_counts(page: Page, broker: Serving, admin: AdminClient) -> None:
    topic_id = urlsafe_b64decode(admin.get(f"/v1/topics/{TOPIC}")["topic_id"] + "==")
    with ShareMember(broker.bootstrap, ("sharers", "one"), (TOPIC, topic_id)) as member:
        member.configure(auto_offset_reset="earliest")
        member.beat(0)
        member.fetch()
        member.acknowledge(0, 3, ACCEPT)
        member.acknowledge(4, 9, RELEASE)
        member.fetch()

        verdict = show_group(page, broker, "sharers")

        # Partition, acquired now, accepted, released, rejected, archived, ended locks, members that left.
        cells = verdict.get_by_role("region", name="Share group").get_by_role("row").nth(1).get_by_role("cell")
        expect(cells).to_have_text(["0", "6", "4", "6", "0", "0", "0", "0"])
        expect(verdict.get_by_role("listitem")).to_contain_text("one released them")

"""The filter and the lanes of the timeline: which requests are shown, and the search for older ones."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving, serving
from .conftest import WIDE
from .open_page import opened
from .test_live import KEPT, PIPELINED, PRODUCED
from .test_nodes import cluster
from .test_timeline import LOST_ACK, produce, requests

pytestmark = pytest.mark.page

__all__ = ["cluster"]


def test_filter_shows_only_what_fulfils_all_conditions(page: Page, broker: Serving, admin: AdminClient) -> None:
    admin.post("/v1/rules", LOST_ACK)
    produce(broker, 3)
    expect(requests(page).get_by_role("option", name="duplicate of")).to_have_count(1)

    page.get_by_label("API", exact=True).select_option("Produce")
    expect(requests(page).get_by_role("option")).to_have_count(4)
    page.get_by_label("notable only").check()
    expect(requests(page).get_by_role("option")).to_have_count(2)
    page.get_by_label("producer id").fill("12345")
    expect(requests(page).get_by_role("option")).to_have_count(0)
    page.get_by_role("button", name="Clear").click()
    expect(requests(page).get_by_role("option", name="ApiVersions")).not_to_have_count(0)


def test_lanes_are_clients_connections_or_producers(page: Page, broker: Serving) -> None:
    produce(broker, 1)
    heads = page.locator(".lane-head:not(.broker)")
    expect(heads).to_have_text(["shop"])

    page.get_by_label("One lane per").select_option("connection")
    expect(heads).to_have_text(["shop #1", "shop #2"])
    page.get_by_label("One lane per").select_option("producer")
    expect(heads).to_have_text(["no producer", "producer 0"])


def test_filter_finds_requests_that_the_page_has_not(browser: Browser, tmp_path: Path) -> None:
    options = ("--admin-port", "0", "--seed-topic", TOPIC, "-c", f"fauxka.journal.requests.max={KEPT}")
    with serving(tmp_path, *options) as broker:
        produce(broker, 2)
        with TopicClient(broker.bootstrap) as client:
            for first in range(0, PRODUCED, PIPELINED):
                client.send_produce(*range(first, first + PIPELINED))
                for _ in range(PIPELINED):
                    client.receive_produced()

        with opened(browser, f"{broker.admin}/#timeline/api=Produce/client=shop", size=WIDE) as page:
            expect(page.locator("output.count")).to_have_text("2 requests of all that are kept")
            expect(requests(page).get_by_role("option")).to_have_count(2)
            requests(page).get_by_role("option", name="offset 1").click()
            expect(page.get_by_role("region", name="Request")).to_contain_text("appended at offset 1")
            page.get_by_label("client id").fill("another client")
            expect(page.get_by_role("heading", name="No request is selected")).to_be_visible()


def test_each_node_has_a_line_a_lane_and_a_condition(browser: Browser, cluster: Serving) -> None:
    with opened(browser, f"{cluster.admin}/", size=WIDE) as page:
        produce(cluster, 1)
        expect(requests(page).get_by_role("option", name="offset 0")).to_have_count(1)
        for address in cluster.bootstrap.split(","):
            with TopicClient(address) as client:
                client.produce(0)

        expect(page.locator(".lane-head.broker")).to_have_text(["node 1", "node 2", "node 3"])
        page.get_by_label("Node").select_option("2")
        page.get_by_label("One lane per").select_option("node")

        expect(page.locator(".lane-head:not(.broker)")).to_have_text(["node 2"])
        expect(page).to_have_url(re.compile("#timeline/node=2/lane=node$"))

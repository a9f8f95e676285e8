"""The marks across the timeline: what happened to the cluster between two requests."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving
from .conftest import WIDE
from .open_page import opened
from .test_nodes import cluster
from .test_timeline import LOST_ACK, produce, requests

pytestmark = pytest.mark.page

__all__ = ["cluster"]


def test_rule_is_marked_between_the_requests_before_and_after_it(
    page: Page, broker: Serving, admin: AdminClient
) -> None:
    produce(broker, 1)
    last = admin.get("/v1/journal?before=1000&limit=1")["items"][0]["id"]
    admin.post("/v1/rules", {**LOST_ACK, "name": "lost"})
    produce(broker, 1)
    before = requests(page).locator(f"#request-{last}")
    expect(requests(page).get_by_role("option", name="offset 1")).to_have_count(1)

    mark = page.locator(".mark").filter(has_text="rule 1 (lost) added")

    place, row = mark.bounding_box(), before.bounding_box()
    assert place is not None and row is not None
    assert round(place["y"]) == round(row["y"] + row["height"])


def test_killed_node_and_the_elections_after_it_are_marked(browser: Browser, cluster: Serving) -> None:
    with opened(browser, f"{cluster.admin}/", size=WIDE) as page:
        produce(cluster, 1)
        expect(requests(page).get_by_role("option", name="offset 0")).to_have_count(1)

        admin = AdminClient(cluster.admin or "")
        leader = admin.get("/v1/partitions", topic=TOPIC)["items"][0]["leader"]
        admin.post(f"/v1/nodes/{leader}/stop", {"controlled": False, "noticed": True})

        mark = page.locator(".mark").filter(has_text=f"node {leader} is killed")
        elected = re.compile(rf"^node {leader} is killed\nnode \d leads, before it node {leader}: {TOPIC}-0$")
        expect(mark.locator("span")).to_have_attribute("title", elected)

"""The nodes: those of a cluster stopped, isolated and without leaders; a single one crashed and restarted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving, serving
from .conftest import WIDE
from .open_page import opened

pytestmark = pytest.mark.page

CLUSTER = ("--nodes", "3", "--racks", "a,b,c", "-c", "default.replication.factor=3", "-c", "fauxka.busy.poll.us=0")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Serving]:
    """Three nodes, each with a replica of the partition of the topic."""
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", TOPIC, *CLUSTER) as started:
        yield started


@pytest.fixture
def cluster_admin(cluster: Serving) -> AdminClient:
    assert cluster.admin is not None
    return AdminClient(cluster.admin)


@pytest.fixture
def nodes(browser: Browser, cluster: Serving) -> Iterator[Page]:
    with opened(browser, f"{cluster.admin}/#nodes", size=WIDE) as page:
        yield page


def node(page: Page, number: int) -> Locator:
    return page.get_by_role("article", name=f"Node {number}")


def answer(page: Page, button: str) -> None:
    """Press the button of the dialog."""
    page.get_by_role("dialog").get_by_role("button", name=button).click()


def test_node_is_crashed_and_restarted(page: Page, broker: Serving) -> None:
    page.get_by_role("link", name="Nodes").click()
    expect(node(page, 1)).to_contain_text(f"Address{broker.bootstrap}")
    node(page, 1).get_by_role("button", name="Crash").click()
    answer(page, "Crash")
    expect(node(page, 1)).to_contain_text("crashed")

    node(page, 1).get_by_role("button", name="Restart").click()
    page.get_by_label("Producer snapshots").select_option("drop")
    answer(page, "Restart")

    expect(node(page, 1)).to_contain_text("running")


@pytest.mark.slice
def test_nodes_are_stopped_and_started(nodes: Page) -> None:
    for text in ("running", "Rackb"):
        expect(node(nodes, 2)).to_contain_text(text)
    node(nodes, 2).get_by_role("button", name="Stop").click()
    answer(nodes, "Stop")
    expect(node(nodes, 2)).to_contain_text("stopped")
    expect(node(nodes, 2)).to_contain_text("Leader of0 partitions")

    node(nodes, 2).get_by_role("button", name="Start").click()

    expect(node(nodes, 2)).to_contain_text("running")


def test_node_is_killed(nodes: Page, cluster_admin: AdminClient) -> None:
    node(nodes, 3).get_by_role("button", name="Stop").click()
    nodes.get_by_label("How").select_option("noticed")
    answer(nodes, "Stop")

    expect(node(nodes, 3)).to_contain_text("crashed")
    assert [each["state"] for each in cluster_admin.get("/v1/nodes")["items"]] == ["running", "running", "crashed"]


def test_node_is_isolated_and_rejoins(nodes: Page, cluster_admin: AdminClient) -> None:
    node(nodes, 1).get_by_role("button", name="Isolate").click()
    nodes.get_by_label("the controller").check()
    nodes.get_by_label("its clients").check()
    answer(nodes, "Isolate")
    expect(node(nodes, 1)).to_contain_text("Isolated fromcontroller, clients")
    assert cluster_admin.get("/v1/nodes")["items"][0]["isolated_from"] == ["controller", "clients"]

    node(nodes, 1).get_by_role("button", name="Rejoin").click()

    expect(node(nodes, 1)).not_to_contain_text("Isolated from")


def test_isolation_from_nothing_is_explained_in_the_dialog(browser: Browser, cluster: Serving) -> None:
    with opened(browser, f"{cluster.admin}/#nodes", size=WIDE, expected=("400",)) as page:
        node(page, 1).get_by_role("button", name="Isolate").click()
        answer(page, "Isolate")

        expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("from")


def test_leaders_of_a_node_are_moved(nodes: Page, cluster_admin: AdminClient) -> None:
    (partition,) = cluster_admin.get("/v1/partitions", topic=TOPIC)["items"]
    leader = partition["leader"]
    other = leader % 3 + 1
    node(nodes, leader).get_by_role("button", name="Move leaders").click()
    nodes.get_by_role("combobox", name="To").select_option(str(other))
    answer(nodes, "Move")

    expect(node(nodes, leader)).to_contain_text("Leader of0 partitions")
    expect(node(nodes, other)).to_contain_text("Leader of1 partition")
    assert cluster_admin.get("/v1/partitions", topic=TOPIC)["items"][0]["leader"] == other


def test_topic_of_a_cluster_shows_replicas_and_moves_a_leader(
    browser: Browser, cluster: Serving, cluster_admin: AdminClient
) -> None:
    (partition,) = cluster_admin.get("/v1/partitions", topic=TOPIC)["items"]
    leader = partition["leader"]
    other = leader % 3 + 1
    third = other % 3 + 1
    with opened(browser, f"{cluster.admin}/#topics/{TOPIC}", size=WIDE) as page:
        cells = page.get_by_role("region", name="Partitions").get_by_role("row").nth(1).get_by_role("cell")
        expect(cells.nth(8)).to_have_text(", ".join(map(str, partition["replicas"])))
        page.get_by_role("button", name="Move the leader of partition 0").click()
        page.get_by_role("combobox", name="Node").select_option(str(other))
        answer(page, "Move")
        expect(cells.nth(0)).to_have_text(str(other))
        expect(cells.nth(1)).to_have_text("1")

        cluster_admin.post(f"/v1/nodes/{third}/stop", {"controlled": False, "noticed": True})

        expect(cells.nth(8)).to_contain_text(f"{third} down")
        expect(cells.nth(9)).to_have_text(", ".join(str(each) for each in partition["replicas"] if each != third))

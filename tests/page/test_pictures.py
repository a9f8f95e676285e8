"""The page looks as in its pictures: light, dark, on a narrow and on a wide screen.

FAUXKA_PICTURES=take takes those that differ again.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from ..admin.admin_client import AdminClient
from ..serving_process import Serving, serving
from .conftest import NARROW, WIDE
from .open_page import ScaledSize, opened
from .page_picture import difference, take_picture, with_few_colors
from .shop import CONFIGS, open_shop, stop_clock
from .shown_views import (
    BROKER,
    FAULTS,
    FILES,
    GROUP_VIEW,
    GROUPS,
    NODES,
    SESSION,
    TIMELINE,
    TOPIC,
    TOPICS,
    TRANSACTIONS,
    VERDICT,
    VERDICTS,
    ShownView,
)

pytestmark = pytest.mark.page

PICTURES = Path(__file__).parent / "pictures"
# README.md shows the picture of the timeline.
TIMELINE_PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
TAKE = os.environ.get("FAUXKA_PICTURES") == "take"
# Chromium without subpixel positions of letters differs by 0.25 % at most; a missing row of the timeline by 0.5 %.
DIFFERENCE_MAX = 0.004
# Of one picture, and of all of them.
BYTES_MAX, ALL_BYTES_MAX = 80_000, 1_200_000
SHOP_VIEWS = (TOPICS, TOPIC, GROUPS, GROUP_VIEW, TRANSACTIONS, VERDICTS, VERDICT, FAULTS, FILES, BROKER, SESSION)
ALL = (TIMELINE, NODES, *SHOP_VIEWS)
CLUSTER = ("--nodes", "3", "--racks", "a,b,c", "-c", "default.replication.factor=3")
PORTS_SHOWN = 9092


@dataclass(frozen=True)
class Look:
    """How a picture is taken."""

    name: str
    size: tuple[int, int] | ScaledSize
    scheme: Literal["light", "dark"]


LOOKS = (
    Look("light", WIDE, "light"),
    Look("dark", WIDE, "dark"),
    Look("narrow", NARROW, "light"),
    # The widest files would be as large as all others together.
    Look("wide", ScaledSize(2560, 1440, 0.5), "dark"),
)


@pytest.fixture(scope="module")
def ordering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A broker with a lost acknowledgement among a few requests."""
    with (
        serving(tmp_path_factory.mktemp("ordering"), "--admin-port", "0", *CONFIGS) as broker,
        open_shop(broker.bootstrap, admin_of(broker)) as shop,
    ):
        shop.take_orders()
        yield broker


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Three nodes: one runs, one is isolated, and one is stopped."""
    with serving(tmp_path_factory.mktemp("cluster"), "--admin-port", "0", *CLUSTER, *CONFIGS) as broker:
        admin = admin_of(broker)
        stop_clock(admin)
        admin.post("/v1/topics", {"name": "orders", "partitions": 3})
        admin.post("/v1/nodes/2/isolate", {"from": ["controller", "nodes"]})
        admin.post("/v1/nodes/3/stop", {"controlled": False, "noticed": True})
        yield broker


def admin_of(broker: Serving) -> AdminClient:
    assert broker.admin is not None
    return AdminClient(broker.admin)


def addresses(broker: Serving) -> dict[str, str]:
    """Return what is shown for each address of a node."""
    nodes = admin_of(broker).get("/v1/nodes")["items"]
    return {node["bootstrap"]: f"127.0.0.1:{PORTS_SHOWN + number}" for number, node in enumerate(nodes)}


@contextmanager
def shown(browser: Browser, broker: Serving, view: ShownView, look: Look) -> Generator[Page]:
    url = f"{broker.admin}/{view.address}"
    with opened(browser, url, size=look.size, scheme=look.scheme) as page:
        view.show(page)
        yield page


def picture_of(view: ShownView, look: Look) -> Path:
    """Return the file of a picture."""
    if view is TIMELINE and look.name in ("light", "dark"):
        return TIMELINE_PICTURES / f"lost-ack-{look.name}.png"
    return PICTURES / f"{view.name.replace(' ', '-')}-{look.name}.png"


def check(browser: Browser, taken: bytes, file: Path) -> None:
    """Compare a picture with the file. Write the file instead if that is asked for and they differ."""
    share = difference(browser, taken, file.read_bytes()) if file.exists() else 1.0
    if TAKE and share > 0:
        file.write_bytes(with_few_colors(browser, taken))
        return
    assert share <= DIFFERENCE_MAX, f"{share:.1%} of {file.name} differ; FAUXKA_PICTURES=take takes it again"


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
def test_timeline_looks_as_in_its_picture(browser: Browser, ordering: Serving, look: Look) -> None:
    with shown(browser, ordering, TIMELINE, look) as page:
        check(browser, take_picture(page, addresses(ordering)), picture_of(TIMELINE, look))


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
@pytest.mark.parametrize("view", SHOP_VIEWS, ids=lambda view: view.name)
def test_view_looks_as_in_its_picture(browser: Browser, shop: Serving, view: ShownView, look: Look) -> None:
    with shown(browser, shop, view, look) as page:
        expect(page.locator("#views .tag")).to_have_count(1)
        check(browser, take_picture(page, addresses(shop)), picture_of(view, look))


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
def test_nodes_look_as_in_their_picture(browser: Browser, cluster: Serving, look: Look) -> None:
    with shown(browser, cluster, NODES, look) as page:
        expect(page.get_by_role("article", name="Node 3")).to_contain_text("Leader of0 partitions")
        check(browser, take_picture(page, addresses(cluster)), picture_of(NODES, look))


@pytest.mark.parametrize("hidden", ["#view", "#views", ".side", ".row.tone-cut"])
def test_picture_differs_where_a_part_is_missing(browser: Browser, ordering: Serving, hidden: str) -> None:
    with shown(browser, ordering, TIMELINE, LOOKS[0]) as page:
        whole = take_picture(page, addresses(ordering))
        page.locator(hidden).first.evaluate("part => { part.style.visibility = 'hidden'; }")
        without = take_picture(page, addresses(ordering))

    assert difference(browser, whole, whole) == 0
    assert difference(browser, whole, without) > DIFFERENCE_MAX


def test_pictures_are_small() -> None:
    sizes = {file.name: file.stat().st_size for look in LOOKS for view in ALL for file in [picture_of(view, look)]}

    assert {name for name, size in sizes.items() if size > BYTES_MAX} == set()
    assert sum(sizes.values()) <= ALL_BYTES_MAX
    others = {*PICTURES.glob("*.png"), *TIMELINE_PICTURES.glob("*.png")}
    assert {file.name for file in others} - set(sizes) == set()

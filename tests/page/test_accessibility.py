"""axe-core finds nothing serious in any view: names, roles, contrast, order."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser

from ..admin.admin_client import AdminClient
from ..projects import run_in_project
from ..runtimes import need
from ..serving_process import Serving, environment
from .conftest import NARROW, WIDE
from .open_page import opened
from .shown_views import ALL_VIEWS, ShownView, press

pytestmark = pytest.mark.page

PROJECT = Path(__file__).parent / "axe"
INSTALL = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
# The first run of a machine downloads axe-core.
SECONDS_MAX = 120
MORE_THAN_A_PAGE = 101
GRAVE = ("serious", "critical")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The script of axe-core."""
    need("node", "npm", group="axe-core")
    folder = shutil.copytree(PROJECT, tmp_path_factory.mktemp("axe") / "project")
    run_in_project(folder, environment(), *INSTALL, seconds_max=SECONDS_MAX)
    yield (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()
    shutil.rmtree(folder)


def grave_violations(result: dict[str, Any]) -> list[str]:
    """Return a line for each element with a serious or critical violation."""
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in result["violations"]
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]


def violations(
    browser: Browser, broker: Serving, axe: str, view: ShownView, size: tuple[int, int]
) -> dict[str, list[str]]:
    """Return the serious violations of a view in light and in dark."""
    found: dict[str, list[str]] = {}
    for scheme in SCHEMES:
        with opened(browser, f"{broker.admin}/{view.address}", size=size, scheme=scheme, expected=("409",)) as page:
            view.show(page)
            page.evaluate(axe)
            found[scheme] = grave_violations(page.evaluate("axe.run()"))
    return found


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("view", ALL_VIEWS, ids=lambda view: view.name)
def test_view_is_accessible(browser: Browser, shop: Serving, axe: str, view: ShownView, size: tuple[int, int]) -> None:
    assert violations(browser, shop, axe, view, size) == {scheme: [] for scheme in SCHEMES}


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_page_of_a_long_list_is_accessible(
    browser: Browser, broker: Serving, admin: AdminClient, axe: str, size: tuple[int, int]
) -> None:
    for number in range(MORE_THAN_A_PAGE):
        admin.post("/v1/topics", {"name": f"topic-{number}"})
    second = ShownView("long list", "#topics", "1 to 100 of", press("Next"))

    assert violations(browser, broker, axe, second, size) == {scheme: [] for scheme in SCHEMES}

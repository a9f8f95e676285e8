"""axe-core finds nothing serious in any view: names, roles, contrast, order."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser

from ..projects import run_in_project
from ..runtimes import need
from ..serving_process import Serving, environment
from .conftest import NARROW, WIDE
from .open_page import opened
from .shown_views import ALL_VIEWS, ShownView

pytestmark = pytest.mark.page

PROJECT = Path(__file__).parent / "axe"
INSTALL = ("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
# The first run of a machine downloads axe-core.
SECONDS_MAX = 120
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


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("view", ALL_VIEWS, ids=lambda view: view.name)
def test_view_is_accessible(browser: Browser, shop: Serving, axe: str, view: ShownView, size: tuple[int, int]) -> None:
    found: dict[str, list[str]] = {}

    for scheme in SCHEMES:
        with opened(browser, f"{shop.admin}/{view.address}", size=size, scheme=scheme, expected=("409",)) as page:
            view.show(page)
            page.evaluate(axe)
            found[scheme] = grave_violations(page.evaluate("axe.run()"))

    assert found == {scheme: [] for scheme in SCHEMES}

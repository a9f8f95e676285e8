"""The page in Firefox: its stream of requests, each of its views, and a fault."""

from pathlib import Path

import pytest

from ..admin.admin_client import AdminClient
from ..runtimes import need
from ..serving_process import Serving
from .firefox import FIREFOX, firefox
from .test_timeline import produce

pytestmark = pytest.mark.page

# By the address of a view, an element that it shows.
VIEWS = {
    "topics": ".table th[scope=row] a",
    "groups": ".empty h2",
    "transactions": ".empty h2",
    "nodes": "article.card",
    "verdict": ".sheet-table th[scope=row]",
    "faults": ".recipe button",
    "timeline": ".chart .row",
}


@pytest.mark.slice
def test_views_requests_and_a_fault_work_in_firefox(broker: Serving, admin: AdminClient, tmp_path: Path) -> None:
    need(FIREFOX, group="the page in Firefox")
    assert broker.admin is not None
    with firefox(tmp_path, broker.admin) as window:
        window.open(f"{broker.admin}/")
        window.wait_for("#bar .state.is-live")
        produce(broker, 1)
        window.wait_for(".chart .row")

        for view, shown in VIEWS.items():
            window.click(f'#views a[href="#{view}"]')
            window.wait_for(f'#views a[href="#{view}"][aria-current]')
            window.wait_for(f"#view {shown}")
        window.click('#views a[href="#faults"]')
        window.click(".recipe button")
        text = window.text_of("li.rule")

        (rule,) = admin.get("/v1/rules")["items"]
        assert text.startswith(f"{rule['id']} ")
        assert window.errors() == []


def test_error_of_a_script_is_found_in_firefox(broker: Serving, tmp_path: Path) -> None:
    need(FIREFOX, group="the page in Firefox")
    assert broker.admin is not None
    with firefox(tmp_path, broker.admin) as window:
        window.open(f"{broker.admin}/")
        window.run("setTimeout(() => { document.title = 'raised'; throw new Error('for the test'); })")
        window.wait_until_title("raised")

        assert ["for the test" in error for error in window.errors()] == [True]

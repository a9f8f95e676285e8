"""Files, clock, crashes, reset and snapshots of the page."""

import pytest
from playwright.sync_api import Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving
from .faults_page import open_faults, produce, recipe, rule

pytestmark = pytest.mark.page

DAY_MS = 86_400_000


def perform(page: Page, name: str) -> None:
    """Click the button of an action, and wait for its notice."""
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator(".notice").filter(has_text=name).last).to_be_visible()


def test_full_disk_of_a_folder_is_armed_and_removed(page: Page, admin: AdminClient) -> None:
    open_faults(page, "Files")
    page.get_by_label("Folder").fill(f"{TOPIC}-0")
    recipe(page, "Disk full").click()
    expect(rule(page, "1 disk full")).to_contain_text(f"folder {TOPIC}-0 · disk_full")
    assert admin.get("/v1/files")["items"][0]["action"] == "disk_full"

    page.get_by_role("button", name="Remove file rule 1").click()

    expect(page.get_by_text("No file rule.")).to_be_visible()


def test_torn_write_of_the_form_needs_its_bytes_and_crashes_the_node(
    refused_page: Page, broker: Serving, admin: AdminClient
) -> None:
    page = refused_page
    open_faults(page, "Files")
    page.get_by_role("button", name="New file rule…").click()
    form = page.get_by_role("dialog")
    form.get_by_label("action", exact=True).select_option("tear")
    form.get_by_role("button", name="Add rule").click()
    expect(form.get_by_label("bytes")).to_have_attribute("aria-invalid", "true")

    form.get_by_label("bytes").fill("30")
    form.get_by_label("crash").fill("0")
    form.get_by_label("file kind").fill("log")
    form.get_by_role("button", name="Add rule").click()
    expect(rule(page, "1 ")).to_contain_text("tear · bytes 30 · crash")
    produce(broker)

    expect(rule(page, "1 ")).to_contain_text("none left")
    (added,) = admin.get("/v1/files")["items"]
    assert (added["bytes"], added["crash"], added["file_kind"]) == (30, {"restart_after_ms": 0}, "log")


def test_broker_without_file_faults_says_so(refused_page: Page) -> None:
    message = "this broker was started without file faults"
    body = {"error": {"field": None, "value": None, "allowed": None, "message": message}}
    refused_page.route("**/v1/files", lambda route: route.fulfill(status=409, json=body))

    open_faults(refused_page, "Files")

    expect(refused_page.get_by_text(message)).to_be_visible()
    expect(recipe(refused_page, "Disk full")).to_be_hidden()
    expect(refused_page.get_by_role("button", name="New file rule…")).to_be_hidden()


def test_clock_is_stopped_and_advanced(page: Page, admin: AdminClient) -> None:
    open_faults(page, "Clock and broker")
    perform(page, "Manual clock")
    expect(page.get_by_text("stands until it is advanced")).to_be_visible()
    before = admin.get("/v1/clock")["now_ms"]

    perform(page, "Advance by 8 d")
    page.get_by_label("Advance by", exact=True).fill("90")
    page.get_by_label("Unit").select_option("min")
    page.get_by_role("button", name="Advance", exact=True).click()

    expect(page.locator(".notice")).to_have_count(3)
    assert admin.get("/v1/clock")["now_ms"] == before + 8 * DAY_MS + 90 * 60_000
    perform(page, "Real clock")
    expect(page.get_by_text("follows the machine's clock")).to_be_visible()


def test_invalid_advance_is_shown_at_the_clock(refused_page: Page) -> None:
    open_faults(refused_page, "Clock and broker")
    refused_page.get_by_label("Advance by", exact=True).fill("-1")

    refused_page.get_by_role("button", name="Advance", exact=True).click()

    expect(refused_page.get_by_role("region", name="Clock").get_by_role("alert")).to_contain_text("advance_ms")


def test_node_is_crashed_and_restarted(page: Page, broker: Serving) -> None:
    open_faults(page, "Clock and broker")
    perform(page, "Crash the node")
    expect(page.get_by_text("node 1 crashed")).to_be_visible()

    perform(page, "Restart the node")

    expect(page.get_by_text("node 1 running")).to_be_visible()
    produce(broker)


def test_snapshot_is_restored(page: Page, broker: Serving, admin: AdminClient) -> None:
    open_faults(page, "Clock and broker")
    perform(page, "Take a snapshot")
    produce(broker)
    assert len(admin.get(f"/v1/topics/{TOPIC}/records")["items"]) == 1

    perform(page, "Restore snapshot 1")

    assert admin.get(f"/v1/topics/{TOPIC}/records")["items"] == []
    perform(page, "Delete snapshot 1")
    expect(page.get_by_text("No snapshot.")).to_be_visible()


def test_reset_asks_for_its_scope_first(page: Page, broker: Serving, admin: AdminClient) -> None:
    produce(broker)
    admin.post("/v1/rules", {"point": "received", "action": {"kind": "observe"}})
    open_faults(page, "Clock and broker")
    page.get_by_role("button", name="Reset…").click()
    page.get_by_role("button", name="Cancel").click()
    assert len(admin.get("/v1/rules")["items"]) == 1

    page.get_by_role("button", name="Reset…").click()
    page.get_by_role("radio", name="all All of these").check()
    page.get_by_role("button", name="Reset", exact=True).click()

    expect(page.get_by_text("Reset all")).to_be_visible()
    assert admin.get("/v1/rules")["items"] == []
    assert admin.get(f"/v1/topics/{TOPIC}/records")["items"] == []


@pytest.mark.parametrize("tab", ["Requests", "Files", "Clock and broker", "Session"])
def test_narrow_window_has_nothing_beside_it(page: Page, tab: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})

    open_faults(page, tab)

    assert page.evaluate("document.querySelector('#view').scrollWidth") == 390

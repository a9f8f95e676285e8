"""What a person does with records beside reading them: follow, decode, send, and keep them."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import serving
from .conftest import WIDE
from .open_page import opened
from .test_records import PATH, VALUE_BYTES, seed, show_topic

pytestmark = pytest.mark.page


def test_new_records_are_followed_newest_first(page: Page, admin: AdminClient) -> None:
    seed(admin, {"key": "order-1", "value": "one"}, {"key": "note-1", "value": "x"})
    show_topic(page)
    part = page.get_by_role("region", name="Search")
    part.get_by_label("follow new records").check()
    part.get_by_role("searchbox", name="Search for").fill("order")
    part.get_by_role("button", name="Search").click()
    expect(part).to_contain_text("1 found · searched 2 of 2 records")

    seed(admin, {"key": "note-2", "value": "x"}, {"key": "order-2", "value": "two"})

    expect(part.locator("details")).to_have_count(2)
    expect(part.locator("details").first).to_contain_text("order-2")


def test_newest_records_of_a_megabyte_are_shown(page: Page, admin: AdminClient) -> None:
    for number in range(4):
        seed(admin, {"key": f"big-{number}", "value": "y" * VALUE_BYTES})
    show_topic(page)

    part = page.get_by_role("region", name="Records")
    expect(part).to_contain_text("offsets 3 to 3 of 0 to 3")
    part.get_by_role("button", name="Older").click()
    expect(part.locator("details")).to_contain_text("big-2")


def test_produce_of_the_form_meets_fault_rules(page: Page, admin: AdminClient) -> None:
    admin.post("/v1/rules", {"match": {"api": "Produce"}, "point": "applied", "action": {"kind": "close"}})
    show_topic(page)
    page.get_by_role("button", name="Append record").click()
    page.get_by_role("textbox", name="Key").fill("order-1")
    page.get_by_role("textbox", name="Headers").fill("a=1\nb\nc:hex=fffe")
    page.get_by_label("Send as a Produce").check()
    page.get_by_role("button", name="Append", exact=True).click()

    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("closed the connection without a response")
    (record,) = admin.get(PATH)["items"]
    assert [(each["name"], each["value"]) for each in record["headers"]] == [
        ("a", "1"),
        ("b", None),
        ("c", {"base64": "//4="}),
    ]


def test_record_is_downloaded_and_its_hidden_characters_are_shown(page: Page, admin: AdminClient) -> None:
    seed(admin, {"key": "gnp\u202e.exe", "value": {"base64": "//4="}})
    show_topic(page)
    record = page.get_by_role("region", name="Records").locator("details")
    record.get_by_text("gnp⟨U+202E⟩.exe").click()

    with page.expect_download() as of_json:
        record.get_by_role("button", name="Download record as JSON").click()
    with page.expect_download() as of_value:
        record.get_by_role("button", name="Download value").click()

    assert json.loads(of_json.value.path().read_bytes())["key"] == "gnp\u202e.exe"
    assert of_value.value.path().read_bytes() == b"\xff\xfe"
    assert of_value.value.suggested_filename == "0-0.value"


def test_decoded_value_is_shown_with_its_kind(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "tea.avsc"
    file.write_text('{"type": "record", "name": "Tea", "fields": [{"name": "cups", "type": "int"}]}')
    with serving(tmp_path, "--admin-port", "0", "--seed-topic", TOPIC, "--value-schema", str(file)) as broker:
        assert broker.admin is not None
        seed(AdminClient(broker.admin), {"value": {"base64": "Bg=="}})

        with opened(browser, f"{broker.admin}/#topics/{TOPIC}/0/0", size=WIDE) as page:
            expect(page.get_by_label("Decoded value")).to_have_text('{\n  "cups": 3\n}', use_inner_text=True)
            expect(page.get_by_role("heading", name="Decoded value avro")).to_be_visible()

"""The report: one file that shows a run from file://, without a broker, and that no text of the run can break."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from fauxka.admin.joined_script import join_modules
from fauxka.admin.page_sources import page_modules

from ..admin.admin_client import AdminClient
from ..broker.topic_client import TOPIC
from ..serving_process import Serving, run
from .conftest import WIDE
from .open_page import opened
from .test_verdict import FALSE_SUCCESS, produce

pytestmark = pytest.mark.page

# Without the journal and the state.
PAGE_BYTES_MAX = 500_000
DATA = re.compile(rb'<script type="application/json" id="report">(.*?)</script>', re.DOTALL)
HOSTILE = "</script><script>document.title='broken'</script><!--<b>"
# Runs when the page of a running broker is loaded, and awaits the broker there.
# Returns the syntax error of a script, or null.
READ = "(text) => { try { new Function(text); return null; } catch (error) { return String(error); } }"


def report_of(broker: Serving, folder: Path, *options: str) -> Path:
    """Return the report of the command."""
    path = folder / "run.html"
    ended = run("report", "-o", str(path), *(options or ("--ready-file", str(broker.ready_file))))
    assert (ended.exit_code, ended.log) == (0, "")
    return path


@pytest.mark.slice
def test_report_shows_timeline_verdicts_rules_and_topics_without_a_request(
    browser: Browser, broker: Serving, admin: AdminClient, tmp_path: Path
) -> None:
    admin.post("/v1/rules", {**FALSE_SUCCESS, "name": "false success"})
    produce(broker, "one", "two")
    for offset in (1, 0):
        offsets = {"offsets": [{"topic": TOPIC, "partition": 0, "offset": offset}]}
        admin.call("PUT", "/v1/groups/billing/offsets", offsets)
    requested: list[Request] = []

    with opened(browser, "about:blank", size=WIDE) as page:
        page.on("request", lambda request: requested.append(request))
        page.goto(report_of(broker, tmp_path).as_uri())

        expect(page.get_by_role("row", name=TOPIC)).to_contain_text("1 finding")
        # One finding of the topic and one of the group.
        expect(page.get_by_role("link", name="Verdict")).to_have_text("Verdict2")
        page.get_by_role("link", name="Timeline").click()
        page.get_by_role("option", name="error by rule 1").click()
        expect(page.get_by_role("region", name=re.compile("Request"))).to_contain_text("withheld it from the log")
        page.get_by_role("link", name="Verdict").click()
        page.get_by_role("link", name=TOPIC).click()
        finding = page.get_by_role("listitem").filter(has_text="Acknowledged and lost")
        expect(finding).to_contain_text("it was acknowledged and not appended")
        page.get_by_role("link", name="Groups").click()
        expect(page.get_by_role("region", name="billing")).to_contain_text("Commit moved back")
        page.get_by_role("link", name="Fault rules").click()
        expect(page.get_by_role("listitem").filter(has_text="false success")).to_contain_text("1 hit")
        page.get_by_role("link", name="Topics").click()
        expect(page.get_by_role("row", name=TOPIC)).to_contain_text("1")
        page.get_by_role("link", name="Verdict").click()
        page.get_by_role("link", name=TOPIC).click()
        finding.get_by_role("link").click()
        expect(page.get_by_role("region", name=re.compile("Request"))).to_be_visible()

    assert [request.url for request in requested if not request.url.startswith(("file:", "data:"))] == []
    assert sum(request.url.startswith("file:") for request in requested) == 1


def test_report_of_a_journal_has_the_timeline_only(
    browser: Browser, broker: Serving, admin: AdminClient, tmp_path: Path
) -> None:
    produce(broker, "one")
    journal = tmp_path / "journal.json"
    journal.write_bytes(admin.call("GET", "/v1/journal").content)

    with opened(browser, report_of(broker, tmp_path, "--from", str(journal)).as_uri(), size=WIDE) as page:
        expect(page.get_by_role("option", name="appended at offset 0")).to_be_visible()
        expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(["Timeline"])


def test_texts_from_the_wire_are_shown_and_end_no_element(
    browser: Browser, broker: Serving, admin: AdminClient, tmp_path: Path
) -> None:
    admin.post("/v1/rules", {"name": HOSTILE, "point": "received", "action": {"kind": "observe"}})
    produce(broker, "one", client_id=HOSTILE)

    path = report_of(broker, tmp_path)

    assert path.read_bytes().count(b"</script>") == 2
    with opened(browser, path.as_uri(), size=WIDE) as page:
        page.get_by_role("link", name="Timeline").click()
        expect(page.locator(".lane-head").first).to_have_text(HOSTILE)
        page.get_by_role("link", name="Fault rules").click()
        expect(page.get_by_role("listitem").filter(has_text="document.title")).to_be_visible()
        expect(page).to_have_title(re.compile("^fauxka http://"))


def test_page_of_a_report_is_small_and_all_else_is_data(
    broker: Serving, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = report_of(broker, tmp_path).read_bytes()

    (data,) = DATA.findall(content)
    with capsys.disabled():
        print(f"\nreport: {len(content) - len(data):,} bytes of page, {len(data):,} bytes of data")
    assert len(content) - len(data) < PAGE_BYTES_MAX
    assert json.loads(data)["journal"]["items"] == []


def test_content_security_policy_runs_no_other_script(browser: Browser, broker: Serving, tmp_path: Path) -> None:
    path = report_of(broker, tmp_path)
    path.write_bytes(path.read_bytes().replace(b"</body>", b"<script>document.title = 'broken'</script></body>"))

    refused = "violates the following Content Security Policy directive"
    with opened(browser, path.as_uri(), size=WIDE, expected=(refused,)) as page:
        expect(page.get_by_role("heading", name="Verdict")).to_be_visible()
        expect(page).to_have_title(re.compile("^fauxka "))


@pytest.mark.parametrize("name", sorted(page_modules()))
def test_every_module_joins_to_a_script_that_a_browser_reads(name: str, browser: Browser) -> None:
    script = join_modules(page_modules(), name)

    context = browser.new_context()
    page: Page = context.new_page()
    problem: Any = page.evaluate(READ, script)
    context.close()
    assert problem is None

"""Copied texts of the page run as they are: curl lines, Python, and a session as a test for pytest."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from fauxka.admin.joined_script import join_modules
from fauxka.admin.page_sources import page_modules

from ..admin.admin_client import AdminClient
from ..serving_process import Serving, environment, serving
from .conftest import WIDE
from .faults_page import held_row, open_faults, producing, recipe, rule, rules, shown_text
from .open_page import opened

pytestmark = pytest.mark.page

# A start of pytest takes a second; a machine that does much else may need a hundred times that.
RUN_SECONDS_MAX = 200
BROKER_ACTIONS = (
    *("Take a snapshot", "Manual clock", "Advance by 1 h"),
    *("Restore snapshot 1", "Crash the node", "Restart the node"),
)
SESSION_AS_TEST = f"""(given) => {{
  {join_modules(page_modules(), "session_text.js")}
  const [actions, address] = given;
  const {{ sessionTexts }} = modules["session_text.js"];
  return sessionTexts(actions, {{ origin: `http://${{address}}`, hasToken: false, nodes: 1 }}).pytest;
}}"""
# Each character that ends a word, a string or a command somewhere.
ODD_CLIENT = """a'b"c\\d $(exit 1) `exit 1` ;&|<>*?~#!\n{x} %s \u202e\u0001"""


def run(*command: str, folder: Path, **variables: str) -> str:
    """Run a command in a folder, and return its output. It must succeed."""
    result = subprocess.run(
        command,
        cwd=folder,
        env=environment(variables),
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def do_much(page: Page) -> None:
    """Do something of every kind in the page."""
    open_faults(page)
    page.get_by_label("Topic").fill("orders")
    recipe(page, "Lose the next acknowledgement").click()
    recipe(page, "Deliver twice").click()
    expect(rules(page)).to_have_count(2)
    page.get_by_role("switch", name="rule 1 enabled").click()
    expect(rule(page, "1 lost ack")).to_have_class("rule is-spent")
    page.get_by_role("button", name="Edit rule 2").click()
    page.get_by_role("dialog").get_by_label("partition", exact=True).fill("0..3")
    page.get_by_role("button", name="Replace rule").click()
    expect(rule(page, "2 delivered twice")).to_contain_text("partition 0..3")
    page.get_by_role("button", name="Remove rule 1").click()
    expect(rules(page)).to_have_count(1)
    open_faults(page, "Files")
    recipe(page, "Disk full").click()
    page.get_by_role("switch", name="file rule 1 enabled").click()
    expect(rule(page, "1 disk full")).to_have_class("rule is-spent")
    open_faults(page, "Clock and broker")
    for name in BROKER_ACTIONS:
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(".notice").filter(has_text=name)).to_be_visible()
    open_faults(page, "Session")
    expect(page.get_by_role("list", name="Actions of this page").get_by_role("listitem")).to_have_count(13)


@pytest.mark.slice
def test_session_is_a_test_for_pytest_that_passes(page: Page, tmp_path: Path) -> None:
    do_much(page)
    copied = tmp_path / "test_copied.py"
    copied.write_text(shown_text(page, "pytest"))

    output = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(copied), folder=tmp_path)

    assert "1 passed" in output
    assert 'faults.lost_ack(topic="orders")' in copied.read_text()
    compile(copied.read_text(), "copied", "exec")


def test_copied_test_fails_if_a_rule_never_hits_without_its_mark(page: Page, tmp_path: Path) -> None:
    """The mark is needed as long as the test has no client: the copied rules are really armed."""
    open_faults(page)
    recipe(page, "Hang").click()
    expect(rules(page)).to_have_count(1)
    open_faults(page, "Session")
    copied = tmp_path / "test_copied.py"
    copied.write_text(shown_text(page, "pytest").replace("@pytest.mark.fauxka_allow_unfired\n", ""))

    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(copied)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
        check=False,
    )

    assert result.returncode == 1
    assert "rule 1 'hang': 0 hits" in result.stdout


def test_copied_test_has_the_topics_that_its_session_found(page: Page, admin: AdminClient, tmp_path: Path) -> None:
    """A test begins without topics; a reset and a deletion leave it without them again."""
    record = {"value": "one coffee"}
    actions: list[dict[str, object]] = [
        {"method": "POST", "path": "/v1/crash", "body": {}},
        {"method": "POST", "path": "/v1/restart", "body": {}},
        {
            "method": "POST",
            "path": "/v1/topics/orders/records",
            "body": {"records": [record, {**record, "partition": 2}]},
        },
        {"method": "POST", "path": "/v1/reset", "body": {"scope": "data"}},
        {"method": "POST", "path": "/v1/topics/orders/records", "body": {"records": [record]}},
        {"method": "DELETE", "path": "/v1/topics/orders"},
        {"method": "POST", "path": "/v1/topics/orders/records", "body": {"records": [record]}},
        {"method": "POST", "path": "/v1/topics", "body": {"name": "bills"}},
        {"method": "POST", "path": "/v1/topics/bills/records", "body": {"records": [record]}},
    ]
    copied = tmp_path / "test_copied.py"
    copied.write_text(page.evaluate(SESSION_AS_TEST, [actions, admin.address]))

    output = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(copied), folder=tmp_path)

    assert "1 passed" in output
    lines = [line.strip() for line in copied.read_text().splitlines() if "create(" in line]
    assert lines == [
        'fauxka.topics.create("orders", partitions=3)',
        'fauxka.topics.create("orders", partitions=1)',
        'fauxka.topics.create("orders", partitions=1)',
        'fauxka.topics.create("bills")',
    ]


def test_copied_test_has_no_ids_of_held_requests_and_producers(page: Page, broker: Serving, tmp_path: Path) -> None:
    open_faults(page)
    page.get_by_label("Hits").fill("2")
    recipe(page, "Hold").click()
    expect(rules(page)).to_have_count(1)
    with producing(broker, page, "first", "second"):
        held_row(page, "second").get_by_role("button", name="up").click()
        page.get_by_role("button", name="Release all in this order", exact=True).click()
    recipe(page, "Expire this producer").click()
    open_faults(page, "Session")
    copied = tmp_path / "test_copied.py"
    copied.write_text(shown_text(page, "pytest"))

    output = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(copied), folder=tmp_path)

    assert "1 passed" in output
    assert "fauxka.held.release(*held[1:2], *held[0:1])" in copied.read_text()
    assert "for producer in fauxka.producers.list(" in copied.read_text()


@pytest.mark.parametrize("language", ["curl", "Python"])
def test_session_runs_again_against_the_broker(page: Page, admin: AdminClient, tmp_path: Path, language: str) -> None:
    do_much(page)
    copied = shown_text(page, language)
    admin.post("/v1/reset", {"scope": "all"})

    command = ("sh", "-euc") if language == "curl" else (sys.executable, "-c")
    output = run(*command, copied, folder=tmp_path)

    assert '"error"' not in output
    (left,) = admin.get("/v1/rules")["items"]
    assert (left["name"], left["match"]["partition"]) == ("delivered twice", {"from": 0, "to": 3})
    assert [each["enabled"] for each in admin.get("/v1/files")["items"]] == [False]
    assert admin.get("/v1/clock")["mode"] == "manual"


@pytest.mark.parametrize("language", ["curl", "Python"])
def test_any_text_is_quoted(page: Page, admin: AdminClient, tmp_path: Path, language: str) -> None:
    posted = {"match": {"client_id": ODD_CLIENT}, "point": "received", "action": {"kind": "observe"}}
    admin.post("/v1/rules", posted)
    open_faults(page)
    page.get_by_role("button", name="Copy: rule 1").click()
    copied = shown_text(page, language)

    command = ("sh", "-euc") if language == "curl" else (sys.executable, "-c")
    run(*command, copied, folder=tmp_path)

    first, second = admin.get("/v1/rules")["items"]
    assert second["match"] == first["match"] == posted["match"]
    assert not {"\n", "\u202e", "\u0001"} & set(copied.splitlines()[-1])


def test_copy_buttons_write_to_the_clipboard(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_faults(page)
    recipe(page, "Hang").click()

    page.get_by_role("button", name="Copy as curl").click()
    expect(page.get_by_role("button", name="Copy as curl")).to_have_text("Copied")
    curl = page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("button", name="Copy: rule 1").click()
    shown = shown_text(page, "curl")
    page.get_by_role("dialog").get_by_role("button", name="Copy", exact=True).click()

    expect(page.get_by_role("dialog").get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == shown == curl


def test_text_is_copied_without_the_permission_for_the_clipboard(page: Page) -> None:
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    open_faults(page)
    recipe(page, "Hang").click()

    page.get_by_role("button", name="Copy as curl").click()

    expect(page.get_by_role("button", name="Copy as curl")).to_have_text("Copied")


def test_copied_texts_read_the_token_from_the_environment(browser: Browser, tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--admin-port", "0", "--admin-token", "secret-token") as broker,
        opened(browser, f"{broker.admin}/", size=WIDE, expected=("401",)) as page,
    ):
        page.get_by_role("textbox", name="Token").fill("secret-token")
        page.get_by_role("button", name="Continue").click()
        open_faults(page)
        recipe(page, "Hang").click()
        page.get_by_role("button", name="Copy: rule 1").click()
        curl, python = shown_text(page, "curl"), shown_text(page, "Python")

        run("sh", "-euc", curl, folder=tmp_path, FAUXKA_ADMIN_TOKEN="secret-token")
        run(sys.executable, "-c", python, folder=tmp_path, FAUXKA_ADMIN_TOKEN="secret-token")

        expect(page.locator("li.rule")).to_have_count(3)
        assert "secret-token" not in curl + python
        assert '-H "Authorization: Bearer $FAUXKA_ADMIN_TOKEN"' in curl

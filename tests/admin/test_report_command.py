"""`fauxka report`: of a broker, of what it saved, of a journal, and its one line for each wrong input."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fauxka.admin.report.run_report import REQUESTS_MAX

from ..broker.topic_client import TOPIC, TopicClient
from ..serving_process import Serving, run, serving
from .admin_client import AdminClient

pytestmark = pytest.mark.processes

DATA = re.compile(r'<script type="application/json" id="report">(.*?)</script>', re.DOTALL)
LOST_ACK = {"match": {"api": "Produce"}, "point": "applied", "action": {"kind": "close"}}
MANY_TOPICS = 250
ENTRY: dict[str, object] = {
    "id": 1,
    "at_ms": 0,
    "node": 1,
    "connection": 1,
    "listener": "PLAINTEXT",
    "client_id": None,
    "client_host": "127.0.0.1",
    "software": "none",
    "principal": "User:ANONYMOUS",
    "api": "Metadata",
    "api_version": 1,
    "correlation_id": 1,
    "size": 1,
    "topics": [],
    "group_ids": [],
    "transactional_id": None,
    "batches": [],
    "answered": True,
    "answer": "written",
    "error": None,
    "rule": None,
    "faults": [],
}


def data_of(page: Path) -> Any:
    """Return the data in a report."""
    (data,) = DATA.findall(page.read_text())
    return json.loads(data)


def refused(*words: str) -> str:
    """Return the one line of a command that fails because of its input."""
    ended = run("report", *words)
    assert (ended.exit_code, ended.output, ended.log.count("\n")) == (2, "", 1)
    return ended.log.removeprefix("fauxka: ").rstrip()


@pytest.fixture(autouse=True)
def lost_acknowledgement(broker: Serving, admin: AdminClient) -> None:
    """One batch whose response was lost."""
    admin.post("/v1/reset", {"scope": "all"})
    admin.post("/v1/rules", LOST_ACK)
    with TopicClient(broker.bootstrap) as client:
        client.send_produce(0)
        assert client.wire.is_closed()


def test_report_has_journal_verdicts_rules_and_topics_as_the_api_returns_them(
    broker: Serving, admin: AdminClient, tmp_path: Path
) -> None:
    page = tmp_path / "run.html"

    ended = run("report", "--from", str(broker.admin).removeprefix("http://"), "-o", str(page))

    size = page.stat().st_size / 1000
    count = len(admin.get("/v1/journal")["items"])
    requests = f"{count} request{'' if count == 1 else 's'}"
    assert (ended.exit_code, ended.output, ended.log) == (0, f"{page}: {requests}, {size:.1f} kB\n", "")
    data = data_of(page)
    assert data["title"] == broker.admin
    assert data["journal"]["items"] == admin.get("/v1/journal")["items"]
    assert data["state"]["verdicts"] == [admin.get("/v1/verdict", topic=TOPIC)]
    assert data["state"]["rules"] == admin.get("/v1/rules")["items"]
    assert data["state"]["files"] == []
    assert data["state"]["topics"] == admin.get("/v1/topics")["items"]


def test_report_has_the_verdict_on_each_group(broker: Serving, admin: AdminClient, tmp_path: Path) -> None:
    for offset in (1, 0):
        offsets = {"offsets": [{"topic": TOPIC, "partition": 0, "offset": offset}]}
        admin.call("PUT", "/v1/groups/billing/offsets", offsets)
    page = tmp_path / "run.html"

    run("report", "--ready-file", str(broker.ready_file), "-o", str(page))

    (verdict,) = data_of(page)["state"]["groups"]
    assert verdict == admin.get("/v1/verdict", group="billing")
    assert [each["kind"] for each in verdict["findings"]] == ["commit_moved_back"]


def test_saved_data_gives_the_same_report_later(broker: Serving, tmp_path: Path) -> None:
    saved, first, later = tmp_path / "run.json", tmp_path / "first.html", tmp_path / "later.html"

    made = run("report", "--ready-file", str(broker.ready_file), "--save", str(saved), "-o", str(first))
    again = run("report", "--from", str(saved), "-o", str(later))

    assert (made.exit_code, again.exit_code, again.log) == (0, 0, "")
    assert later.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("words", [("journal", "--json"), ("report", "--save")])
def test_journal_of_the_commands_can_be_read(words: tuple[str, ...], broker: Serving, tmp_path: Path) -> None:
    journal, page = tmp_path / "journal.json", tmp_path / "run.html"
    path = (str(journal),) if words[-1] == "--save" else ()
    ended = run(*words, *path, "--ready-file", str(broker.ready_file))
    if not path:
        journal.write_text(ended.output)

    assert run("report", "--from", str(journal), "-o", str(page)).exit_code == 0

    assert any(entry["faults"] for entry in data_of(page)["journal"]["items"])


def test_deleted_topic_keeps_its_verdict(broker: Serving, admin: AdminClient, tmp_path: Path) -> None:
    admin.call("DELETE", f"/v1/topics/{TOPIC}")
    page = tmp_path / "run.html"

    run("report", "--ready-file", str(broker.ready_file), "-o", str(page))

    state = data_of(page)["state"]
    assert state["topics"] == []
    assert [verdict["topic"] for verdict in state["verdicts"]] == [TOPIC]


def test_token_is_sent_and_asked_for(tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    with serving(tmp_path, "--admin-port", "0", "--admin-token", "a secret") as broker:
        assert broker.admin is not None
        source = ("--from", broker.admin, "-o", str(page))

        assert "give it with --admin-token" in refused(*source)
        assert run("report", *source, "--admin-token", "a secret").exit_code == 0


def test_only_the_newest_requests_are_kept_in_the_order_of_their_ids(tmp_path: Path) -> None:
    journal, page = tmp_path / "journal.json", tmp_path / "run.html"
    items = [{**ENTRY, "id": number} for number in range(REQUESTS_MAX + 2, 0, -1)]
    journal.write_text(json.dumps({"items": items, "next": None, "dropped": 5}))

    run("report", "--from", str(journal), "-o", str(page))

    kept = data_of(page)["journal"]
    assert [entry["id"] for entry in kept["items"]] == list(range(3, REQUESTS_MAX + 3))
    assert kept["dropped"] == 7


def test_texts_that_no_encoding_has_are_kept(tmp_path: Path) -> None:
    journal, page = tmp_path / "journal.json", tmp_path / "run.html"
    journal.write_text(json.dumps({"items": [{**ENTRY, "client_id": "\ud800 é"}]}))

    assert run("report", "--from", str(journal), "-o", str(page)).exit_code == 0

    assert data_of(page)["journal"]["items"][0]["client_id"] == "\ud800 é"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[1]", "has no journal: expected what --save wrote, or GET /v1/journal returned"),
        ('{"rules": []}', "has no journal: expected what --save wrote, or GET /v1/journal returned"),
        ('{"items": [{"id": 1}]}', '"items[0].at_ms" is missing'),
        ('{"items": 7}', "items cannot be 7"),
        ('{"journal": {"items": []}}', '"title" is missing'),
    ],
)
def test_file_that_has_no_journal_is_one_line(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.json"
    path.write_text(content)

    said = refused("--from", str(path), "-o", str(tmp_path / "run.html"))

    assert said.startswith(f"--from: {path}")
    assert message in said
    assert not (tmp_path / "run.html").exists()


def test_wrong_options_are_one_line(tmp_path: Path) -> None:
    page = ("-o", str(tmp_path / "run.html"))

    assert refused() == "give -o FILE for a report, --save FILE for its data, or both"
    assert refused("--from", "missing.json", *page) == (
        "--from: expected HOST:PORT, http://HOST:PORT, https://HOST:PORT or a JSON file, got 'missing.json', and there "
        "is no such file"
    )
    assert refused("--from", "localhost:1", "--admin", "localhost:2", *page) == "--from and --admin exclude each other"
    assert refused("--from", str(tmp_path), *page) == f"--from: {tmp_path} is a folder, not a file"


def test_page_that_cannot_be_written_is_one_line(broker: Serving, tmp_path: Path) -> None:
    source = ("--ready-file", str(broker.ready_file))

    assert refused(*source, "-o", str(tmp_path)) == f"-o: {tmp_path} is a folder, not a file"
    missing = tmp_path / "missing" / "run.json"
    assert refused(*source, "--save", str(missing)) == f"--save: cannot write {missing}: No such file or directory"


def test_no_broker_is_exit_code_1(tmp_path: Path) -> None:
    ended = run("report", "--from", "127.0.0.1:1", "-o", str(tmp_path / "run.html"))

    assert (ended.exit_code, ended.log.count("\n")) == (1, 1)


def test_report_has_the_verdicts_on_all_topics(broker: Serving, admin: AdminClient, tmp_path: Path) -> None:
    for number in range(MANY_TOPICS):
        admin.post("/v1/topics", {"name": f"report-{number}"})
    page = tmp_path / "run.html"

    assert run("report", "--ready-file", str(broker.ready_file), "-o", str(page)).exit_code == 0

    state = data_of(page)["state"]
    assert {verdict["topic"] for verdict in state["verdicts"]} == {topic["name"] for topic in state["topics"]}
    assert len(state["verdicts"]) > MANY_TOPICS
    assert state["unjudged"] == {}

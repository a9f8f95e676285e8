"""The commands that call a running broker: fault, verdict, journal, reset and admin, as their users type them."""

import http.server
import inspect
import json
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fauxka.admin.admin_options import DEFAULT_PORT
from fauxka.admin.client.recipe_commands import RecipeParameters, find_recipe, recipe_names
from fauxka.admin.client.verdict_text import FINDINGS_MAX, verdict_lines
from fauxka.faults.declared_recipes import Recipes
from fauxka.faults.recipe import Recipe
from fauxka.faults.rules import recipes

from ..broker.topic_client import TOPIC, TopicClient
from ..brokers_by_hand import StartedByHand
from ..serving_process import Ended, Serving, run, serving
from .admin_client import AdminClient

pytestmark = pytest.mark.processes

TOKEN = "a secret"


class Commands:
    """Runs commands for one broker."""

    def __init__(self, broker: Serving) -> None:
        self._broker = broker

    def run(self, *words: str) -> Ended:
        return run(*words, "--ready-file", str(self._broker.ready_file))

    def lines(self, *words: str) -> list[str]:
        """Return the output of a command that succeeds."""
        ended = self.run(*words)
        assert (ended.exit_code, ended.log) == (0, "")
        return ended.output.splitlines()

    def refused(self, *words: str) -> str:
        """Return the one line of a command that fails because of its input."""
        ended = self.run(*words)
        assert (ended.exit_code, ended.output, ended.log.count("\n")) == (2, "", 1)
        return ended.log.removeprefix("fauxka: ").rstrip()


@pytest.fixture
def commands(broker: Serving, admin: AdminClient) -> Commands:
    admin.post("/v1/reset", {"scope": "all"})
    return Commands(broker)


def lose_an_acknowledgement(broker: Serving, commands: Commands) -> None:
    """Append a batch whose response is lost, and that is not sent again."""
    commands.lines("fault", "add", "lost_ack", "--topic", TOPIC)
    with TopicClient(broker.bootstrap) as client:
        client.send_produce(0)
        assert client.wire.is_closed()


# -- fault


def test_recipe_is_added_by_its_name(commands: Commands, admin: AdminClient) -> None:
    (line,) = commands.lines("fault", "add", "lost_ack", "--topic", "orders", "--times", "2")

    (rule,) = admin.get("/v1/rules")["items"]
    assert line == f"rule {rule['id']} 'lost ack': close at applied, api Produce, topic orders; 0 of 2 hits"
    assert rule["match"] == {"api": "Produce", "topic": "orders"}
    assert (rule["when"]["times"], rule["point"], rule["action"]) == (2, "applied", {"kind": "close"})


def test_recipe_is_added_by_its_name_with_dashes(commands: Commands) -> None:
    (line,) = commands.lines("fault", "add", "lost-ack")

    assert "'lost ack': close at applied" in line


def test_recipe_takes_every_form_of_option(commands: Commands, admin: AdminClient) -> None:
    words = ["--topic", "a", "--topic", "b", "--partition", "1", "--key", "order-1", "--header", "h=1", "--header", "g"]
    (line,) = commands.lines("fault", "add", "refuse", "6", "--scope", "partition", *words, "--times", "unlimited")

    (rule,) = admin.get("/v1/rules")["items"]
    assert rule["match"] == {
        "topic": ["a", "b"],
        "partition": 1,
        "key": "order-1",
        "header": [{"name": "h", "value": "1"}, {"name": "g"}],
    }
    assert rule["action"] == {"kind": "error", "error": 6, "scope": "partition"}
    assert rule["when"]["times"] is None
    assert line.endswith("0 hits, no limit")


def test_argument_that_may_be_nothing_is_never(commands: Commands, admin: AdminClient) -> None:
    commands.lines("fault", "add", "crash_after_append", "--restart-after-ms", "never")

    assert admin.get("/v1/rules")["items"][0]["action"]["restart_after_ms"] is None


def test_recipe_prints_the_response_as_json(commands: Commands, admin: AdminClient) -> None:
    ended = commands.run("fault", "add", "slow_answers", "100", "--topic", "orders", "--json")

    assert json.loads(ended.output) == admin.get("/v1/rules")["items"][0]


def test_rule_is_added_as_json(commands: Commands, admin: AdminClient) -> None:
    ended = commands.run("fault", "add", "--json", '{"point": "received", "action": {"kind": "observe"}}')

    assert json.loads(ended.output) == admin.get("/v1/rules")["items"][0]


def test_rules_in_a_file_are_added(commands: Commands, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(
        '[[rules]]\npoint = "received"\naction = { kind = "observe" }\n'
        '[[rules]]\npoint = "applied"\naction = { kind = "delay", ms = 5 }\n'
    )

    lines = commands.lines("fault", "add", "--file", str(tmp_path / "rules.toml"))

    assert [line.partition(": ")[2] for line in lines] == [
        "observe at received, all requests; 0 of 1 hits",
        "delay ms=5 at applied, all requests; 0 of 1 hits",
    ]


def test_no_rule_of_a_file_is_added_if_one_is_invalid(commands: Commands, tmp_path: Path, admin: AdminClient) -> None:
    path = tmp_path / "rules.json"
    path.write_text('[{"point": "received", "action": {"kind": "close"}}, {"point": "received"}]')

    assert commands.refused("fault", "add", "--file", str(path)).startswith(f'{path}: rule 2: "action" is missing')
    assert admin.get("/v1/rules")["items"] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["lost_akc"], "unknown recipe 'lost_akc'; did you mean lost_ack?; known are lost_ack, lost_request, "),
        (["refuse", "NOT_LEADER", "--topic", "orders"], "action.error: Kafka has no error 'NOT_LEADER'"),
        (["lost_ack", "--partition", "-1"], "match.partition cannot be -1; allowed: integer >= 0"),
        (["lost_ack", "--times", "x"], "Invalid value for '--times': 'x' is neither an integer nor unlimited."),
        (["lost_ack", "--how", "x"], "Invalid value for '--how': 'x' is not one of 'close', 'reset', 'drop'."),
        (["slow_answers"], "Missing argument 'MS'."),
        (["--json", "{"], "the body is not JSON"),
        (["--json", '{"point": "applied"}'], '"action" is missing'),
        (["--admin-token", "x", "lost_ack"], "give the options after the recipe lost_ack, and no other rule"),
        (["--file", "no-such-file"], "no-such-file: No such file or directory"),
        ([], "give a recipe, --json or --file; recipes are lost_ack, "),
    ],
)
def test_bad_fault_is_one_line_and_exit_code_2(commands: Commands, words: list[str], told: str) -> None:
    ended = commands.run("fault", "add", *words)

    assert (ended.exit_code, ended.output, ended.log.count("\n")) == (2, "", 1)
    assert ended.log.startswith(f"fauxka: {told}")


def test_options_of_a_broker_stand_after_the_recipe() -> None:
    ended = run("fault", "add", "--admin", "127.0.0.1:1", "lost_ack")

    assert (ended.exit_code, ended.log) == (
        2,
        "fauxka: give the options after the recipe lost_ack, and no other rule\n",
    )


def test_list_shows_hits_and_why_others_did_not_match(broker: Serving, commands: Commands) -> None:
    commands.lines("fault", "add", "lost_ack", "--topic", "other")
    lose_an_acknowledgement(broker, commands)

    lines = commands.lines("fault", "list")

    assert lines[0].endswith("api Produce, topic other; 0 of 1 hits")
    assert lines[1] == "    1 request first differed at topic: events, not other"
    assert lines[2].endswith("api Produce, topic events; 1 of 1 hits")
    assert len(lines) == 3


def test_list_without_rules_says_so(commands: Commands) -> None:
    assert commands.lines("fault", "list") == ["no fault rules"]


def test_list_as_json_has_all_rules(commands: Commands, admin: AdminClient) -> None:
    commands.lines("fault", "add", "lost_ack")

    listed = json.loads(commands.run("fault", "list", "--json").output)

    assert listed == {"items": admin.get("/v1/rules")["items"], "next": None}


def test_clear_removes_all_rules(commands: Commands, admin: AdminClient) -> None:
    commands.lines("fault", "add", "lost_ack")
    commands.lines("fault", "add", "hang")

    lines = commands.lines("fault", "clear")

    assert [line.split(":")[0].split("'")[1] for line in lines] == ["lost ack", "hang"]
    assert admin.get("/v1/rules")["items"] == []
    assert commands.lines("fault", "clear") == ["no fault rules"]


def test_clear_removes_the_rules_with_these_ids(commands: Commands, admin: AdminClient) -> None:
    for _ in range(3):
        commands.lines("fault", "add", "lost_ack")
    first, second, third = (rule["id"] for rule in admin.get("/v1/rules")["items"])

    commands.lines("fault", "clear", str(first), str(third))

    assert [rule["id"] for rule in admin.get("/v1/rules")["items"]] == [second]


def test_clear_removes_the_rule_with_a_name(commands: Commands, admin: AdminClient) -> None:
    commands.lines("fault", "add", "lost_ack", "--name", "of orders 1")
    commands.lines("fault", "add", "hang")

    (line,) = commands.lines("fault", "clear", "of orders 1")

    assert line.startswith("removed rule ")
    assert [rule["name"] for rule in admin.get("/v1/rules")["items"]] == ["hang"]


def test_clear_removes_a_rule_once_that_is_given_by_id_and_by_name(commands: Commands, admin: AdminClient) -> None:
    commands.lines("fault", "add", "lost_ack", "--name", "of orders")
    (rule,) = admin.get("/v1/rules")["items"]

    assert len(commands.lines("fault", "clear", "of orders", str(rule["id"]))) == 1


@pytest.mark.parametrize("rule", ["4711", "no such name"])
def test_clear_with_an_unknown_rule_is_refused_and_removes_none(
    commands: Commands, admin: AdminClient, rule: str
) -> None:
    commands.lines("fault", "add", "lost_ack", "--name", "of orders")

    told = commands.refused("fault", "clear", "of orders", rule)

    assert rule in told
    assert [rule["name"] for rule in admin.get("/v1/rules")["items"]] == ["of orders"]


def test_a_rule_may_have_the_name_never(commands: Commands, admin: AdminClient) -> None:
    commands.lines("fault", "add", "lost_ack", "--name", "never")

    assert [rule["name"] for rule in admin.get("/v1/rules")["items"]] == ["never"]


def test_a_rule_is_added_disabled(commands: Commands, admin: AdminClient) -> None:
    (line,) = commands.lines("fault", "add", "lost_ack", "--disabled")

    assert admin.get("/v1/rules")["items"][0]["enabled"] is False
    assert "'lost ack', disabled: close at applied" in line


def test_every_recipe_of_the_tests_is_a_command() -> None:
    of_tests = [name for name, value in vars(Recipes).items() if isinstance(value, Recipe)]

    assert sorted(recipe_names()) == sorted(of_tests)


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_takes_its_arguments_and_the_fields_of_a_match(name: str) -> None:
    recipe = find_recipe(name)
    assert recipe is not None

    found = {option.name for option in RecipeParameters(recipe).options}

    own = inspect.signature(recipe).parameters.keys() - {"chosen"}
    connection_only = name in ("refused_connections", "hanging_connections")
    fields = recipes.ConnectionSelection if connection_only else recipes.RequestSelection
    assert found == own | fields.__annotations__.keys() | (
        set() if connection_only else recipes.MatchFields.__annotations__.keys()
    )


# -- verdict


def test_verdict_of_a_clean_topic_is_exit_code_0(broker: Serving, commands: Commands) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    lines = commands.lines("verdict", TOPIC)

    assert lines[0] == "events: clean"
    assert lines[1].startswith("  batches: appended once 1, appended twice 0, ")
    assert lines[-1] == "  records: in log 1, distinct 1, duplicates 0, deleted 0"


def test_verdict_with_findings_is_exit_code_1_and_shows_them(broker: Serving, commands: Commands) -> None:
    lose_an_acknowledgement(broker, commands)

    ended = commands.run("verdict", TOPIC)

    assert (ended.exit_code, ended.log) == (1, "")
    assert ended.output.startswith("events: 1 finding\n")
    assert "  stored_unacknowledged: " in ended.output


def test_verdict_lists_deleted_records_and_is_clean(broker: Serving, commands: Commands) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
        client.delete_records(1)

    lines = commands.lines("verdict", TOPIC)

    assert lines[0] == "events: clean"
    assert "  deleted: a client deleted the records before offset 1 (DeleteRecords)" in lines


def test_verdict_as_json_has_the_same_exit_code(broker: Serving, commands: Commands, admin: AdminClient) -> None:
    lose_an_acknowledgement(broker, commands)

    ended = commands.run("verdict", TOPIC, "--event-id", "key", "--json")

    assert ended.exit_code == 1
    assert json.loads(ended.output) == admin.get("/v1/verdict", topic=TOPIC, event_id="key")


def test_verdict_on_a_mistyped_topic_is_refused(commands: Commands) -> None:
    told = commands.refused("verdict", "evnets")

    assert told.startswith("there is no topic 'evnets'; did you mean events?")


def test_verdict_on_a_topic_without_batches_is_clean(commands: Commands) -> None:
    assert commands.lines("verdict", TOPIC)[0] == "events: clean"


def test_verdict_with_a_bad_event_id_is_refused(commands: Commands) -> None:
    assert commands.refused("verdict", TOPIC, "--event-id", "kye") == (
        "event_id cannot be 'kye'; allowed: value, key, header:NAME or json:PATH; did you mean key?"
    )


def test_no_verdict_is_exit_code_2() -> None:
    ended = run("verdict", TOPIC, "--admin", "127.0.0.1:1")

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log == "fauxka: no response from the admin API at http://127.0.0.1:1: Connection refused\n"


def test_many_findings_are_counted() -> None:
    findings = [{"kind": "reordered", "why": str(number)} for number in range(FINDINGS_MAX + 2)]

    verdict: dict[str, Any] = {
        "of": "topic",
        "batches": {},
        "records": {},
        "findings": findings,
        "findings_left_out": 3,
    }
    lines = list(verdict_lines(verdict, 80))

    assert lines[-2:] == [f"  reordered: {FINDINGS_MAX - 1}", "  and 5 more findings"]


# -- journal and reset


def test_journal_lists_requests_with_decisions_and_faults(
    broker: Serving, commands: Commands, admin: AdminClient
) -> None:
    lose_an_acknowledgement(broker, commands)
    (rule,) = admin.get("/v1/rules")["items"]

    first, second = commands.lines("journal", "--api", "Produce", "--topic", TOPIC)

    assert first.endswith(f"Produce 9 events: no response; close at applied by rule {rule['id']}")
    assert second == "        events-0: producer 1 epoch 0: sequences 0..0 appended at offsets 0..0"


def test_journal_shows_errors(broker: Serving, commands: Commands) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
        client.produce(2)

    lines = commands.lines("journal")

    assert lines[2].endswith("Produce 9 events: OUT_OF_ORDER_SEQUENCE_NUMBER")
    assert lines[3].startswith(
        "        events-0: OUT_OF_ORDER_SEQUENCE_NUMBER: producer 1 epoch 0: expected sequence 1"
    )


def test_journal_shows_what_a_fetch_asked_for_and_finds_the_error_inside_its_response(
    broker: Serving, commands: Commands
) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)
        client.fetch()
        client.send_fetch(offset=9)
        client.receive_fetched()

    _, _, fetched, ranges, refused, asked = commands.lines("journal")[-6:]

    assert fetched.endswith("events: no error")
    assert ranges == "        events-0 from 0 -> events-0 0..0"
    assert refused.endswith("OFFSET_OUT_OF_RANGE for events-0")
    assert asked == "        events-0 from 9"
    assert commands.lines("journal", "--error", "OFFSET_OUT_OF_RANGE") == [refused, asked]


def test_journal_without_requests_says_so(commands: Commands) -> None:
    assert commands.lines("journal") == ["no requests"]


def test_journal_as_json_has_all_requests(broker: Serving, commands: Commands, admin: AdminClient) -> None:
    with TopicClient(broker.bootstrap) as client:
        client.produce(0)

    assert json.loads(commands.run("journal", "--json").output) == admin.get("/v1/journal")


def test_journal_with_an_unknown_api_is_refused_in_a_short_line(commands: Commands) -> None:
    told = commands.refused("journal", "--api", "Produc")

    assert "'Produc'; did you mean Produce?" in told
    assert len(told) < 200


def test_reset_resets_all_or_its_scope(commands: Commands, admin: AdminClient) -> None:
    commands.lines("fault", "add", "lost_ack")

    journal = commands.lines("reset", "--scope", "journal")
    kept = admin.get("/v1/rules")["items"]
    everything = commands.lines("reset")

    assert (journal, everything) == (["reset: journal"], ["reset: all"])
    assert len(kept) == 1
    assert admin.get("/v1/rules")["items"] == []


def test_unknown_scope_is_refused(commands: Commands) -> None:
    assert commands.refused("reset", "--scope", "rules").startswith('scope cannot be "rules"; allowed: ')


# -- the choice of the broker


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[StartedByHand]:
    starts = StartedByHand(tmp_path)
    yield starts
    starts.close()


def test_the_only_running_broker_is_found(by_hand: StartedByHand) -> None:
    broker = by_hand.serve()

    ended = by_hand.found(f"{broker.admin}\n")

    assert (ended.exit_code, ended.output, ended.log) == (0, f"{broker.admin}\n", "")


def test_a_broker_whose_default_port_is_taken_is_found(by_hand: StartedByHand) -> None:
    with socket.socket() as taken:
        with suppress(OSError):
            # Another process may have the port; then it is taken all the same.
            taken.bind(("127.0.0.1", DEFAULT_PORT))
            taken.listen()
        # An empty variable is none.
        by_hand.variables["FAUXKA_ADMIN_PORT"] = ""
        broker = by_hand.serve()

        assert broker.admin != f"http://127.0.0.1:{DEFAULT_PORT}"
        assert by_hand.found(f"{broker.admin}\n").output == f"{broker.admin}\n"


def test_without_a_running_broker_a_command_is_exit_code_1(by_hand: StartedByHand) -> None:
    ended = by_hand.run("fault", "list")

    assert (ended.exit_code, ended.output) == (1, "")
    assert ended.log == (
        "fauxka: no running broker found: start one with `fauxka serve`, or name one with --admin or --ready-file\n"
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_broker_that_has_ended_is_not_found(by_hand: StartedByHand, number: signal.Signals) -> None:
    broker = by_hand.serve()
    by_hand.found(f"{broker.admin}\n")

    broker.end(number)

    assert by_hand.run("admin").exit_code == 1


def test_several_running_brokers_are_listed_with_their_addresses(by_hand: StartedByHand) -> None:
    first = by_hand.serve()
    by_hand.found(f"{first.admin}\n")
    second = by_hand.serve()
    by_hand.found("")

    ended = by_hand.run("fault", "list")

    assert (ended.exit_code, ended.output, ended.log.count("\n")) == (2, "", 1)
    assert ended.log.startswith("fauxka: 2 brokers are running; choose one with --admin ")
    for broker in (first, second):
        assert f"--admin {broker.admin.removeprefix('http://')} ({broker.bootstrap})" in ended.log


def test_a_broker_with_a_ready_file_is_found_only_by_it(by_hand: StartedByHand, tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", variables=by_hand.variables) as broker:
        named = by_hand.run("admin", "--ready-file", str(broker.ready_file))
        unnamed = by_hand.run("admin")

    assert named.output == f"{broker.admin}\n"
    assert unnamed.exit_code == 1


@pytest.mark.parametrize("form", ["http://{}", "{}", "http://{}/"])
def test_a_broker_is_chosen_by_the_address_of_its_admin_api(broker: Serving, form: str) -> None:
    ended = run("admin", "--admin", form.format((broker.admin or "").removeprefix("http://")))

    assert (ended.exit_code, ended.output) == (0, f"{broker.admin}\n")


def test_a_broker_is_chosen_by_a_variable_unless_an_option_chooses_one(broker: Serving, tmp_path: Path) -> None:
    variables = {"FAUXKA_ADMIN": broker.admin or ""}

    chosen = run("admin", variables=variables)
    by_option = run("admin", "--admin", "http://127.0.0.1:1", variables=variables)
    by_file = run("admin", "--ready-file", str(broker.ready_file), variables={"FAUXKA_ADMIN": "http://127.0.0.1:1"})
    refused = run("admin", variables={"FAUXKA_ADMIN": "127.0.0.1"})

    assert [each.output for each in (chosen, by_option, by_file)] == [
        f"{broker.admin}\n",
        "http://127.0.0.1:1\n",
        f"{broker.admin}\n",
    ]
    expected = "FAUXKA_ADMIN: expected http://HOST:PORT or https://HOST:PORT, got '127.0.0.1'"
    assert (refused.exit_code, refused.log) == (2, f"fauxka: {expected}\n")


@pytest.mark.parametrize("text", ["127.0.0.1", "ftp://127.0.0.1:1", "http://:1", "http://a:1/v1", "a:x", "a:70000", ""])
def test_another_address_is_refused(text: str) -> None:
    ended = run("fault", "list", "--admin", text)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log == f"fauxka: --admin: expected http://HOST:PORT or https://HOST:PORT, got {text!r}\n"


def test_a_missing_ready_file_is_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"

    ended = run("fault", "list", "--ready-file", str(path))

    assert (ended.exit_code, ended.output) == (1, "")
    assert ended.log == f"fauxka: there is no {path}: the broker has not started, or has stopped\n"


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("{}")

    ended = run("fault", "list", "--ready-file", str(tmp_path / "file"))

    assert (ended.exit_code, ended.log) == (2, f"fauxka: {tmp_path / 'file'} is not a ready file of fauxka serve\n")


def test_a_broker_without_an_admin_api_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as broker:
        ended = run("fault", "list", "--ready-file", str(broker.ready_file))

    assert (ended.exit_code, ended.log.count("\n")) == (2, 1)
    assert "has no admin API: it was started with --admin-port off" in ended.log


def test_two_choices_are_refused() -> None:
    ended = run("fault", "list", "--admin", "127.0.0.1:1", "--ready-file", "ready.json")

    assert (ended.exit_code, ended.log) == (2, "fauxka: --admin and --ready-file exclude each other\n")


def test_the_token_is_sent_and_its_absence_is_explained(tmp_path: Path) -> None:
    with serving(tmp_path, "--admin-port", "0", "--admin-token", TOKEN) as broker:
        words = ("fault", "list", "--ready-file", str(broker.ready_file))
        by_option = run(*words, "--admin-token", TOKEN)
        by_variable = run(*words, variables={"FAUXKA_ADMIN_TOKEN": TOKEN})
        without = run(*words)

    assert (by_option.output, by_variable.output) == ("no fault rules\n", "no fault rules\n")
    assert (without.exit_code, without.log.count("\n")) == (2, 1)
    assert without.log.endswith("; give it with --admin-token or FAUXKA_ADMIN_TOKEN\n")


@pytest.mark.parametrize("token", ["€", "", " a"])
def test_a_token_that_no_header_can_have_is_refused(token: str) -> None:
    ended = run("fault", "list", "--admin", "127.0.0.1:1", "--admin-token", token)

    assert (ended.exit_code, ended.log) == (
        2,
        "fauxka: --admin-token: expected printable ASCII characters without space around them\n",
    )


def test_a_host_name_that_cannot_be_encoded_is_exit_code_1() -> None:
    ended = run("fault", "list", "--admin", f"http://{'a' * 64}.test:9099")

    assert (ended.exit_code, ended.log.count("\n")) == (1, 1)
    assert ended.log.startswith("fauxka: no response from the admin API at ")


class AnotherServer(http.server.BaseHTTPRequestHandler):
    """A server that is no broker."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_another_server_at_the_address_is_exit_code_1() -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), AnotherServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        ended = run("fault", "list", "--admin", url)
        server.shutdown()

    assert (ended.exit_code, ended.output) == (1, "")
    assert ended.log == f"fauxka: {url} is not the admin API of fauxka: it responded with 404 Not Found\n"


class AnotherApi(AnotherServer):
    """A server that responds to every call with an empty object."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")


@pytest.mark.parametrize(
    ("words", "exit_code"), [(("verdict", "orders"), 2), (("fault", "list"), 1), (("journal",), 1)]
)
def test_another_api_at_the_address_is_no_clean_verdict(words: tuple[str, ...], exit_code: int) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), AnotherApi) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ended = run(*words, "--admin", f"127.0.0.1:{server.server_port}")
        server.shutdown()

    assert (ended.exit_code, ended.output, ended.log.count("\n")) == (exit_code, "", 1)
    assert ended.log.startswith("fauxka: the response is that of another server, or of another version of fauxka: ")


def test_a_server_of_another_protocol_is_exit_code_1(broker: Serving) -> None:
    ended = run("fault", "list", "--admin", broker.bootstrap)

    assert (ended.exit_code, ended.log.count("\n")) == (1, 1)
    assert ended.log.startswith(f"fauxka: no response from the admin API at http://{broker.bootstrap}: ")


@pytest.mark.parametrize(
    "words",
    [("serve", "--port", "0", "--config", "none"), ("health", "--port", "1"), ("--version",), ("help", "serve")],
)
def test_other_commands_do_not_import_the_client(words: tuple[str, ...]) -> None:
    ended = run(*words, command=(sys.executable, "-X", "importtime", "-m", "fauxka"))

    loaded = {line.rpartition("|")[2].strip() for line in ended.log.splitlines()}
    assert "click" in loaded
    assert [name for name in loaded if name.startswith(("fauxka.admin.client", "http.client"))] == []

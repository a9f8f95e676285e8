"""The reaction of each client to one refused batch, and to throttle times; docs/scenarios.md has the tables."""

import pytest

from fauxka.scenarios.clients.clients import NamedClient, client_of
from fauxka.scenarios.engine import run
from fauxka.scenarios.scenario_files import parse_scenario

OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
FENCED = "INVALID_PRODUCER_EPOCH"
UNKNOWN = "UNKNOWN_PRODUCER_ID"


def steps_of(batch: str) -> str:
    """Return the steps that send a batch and wait until it has its result."""
    return f'''[[steps]]
do = "send"
batches = ["{batch}"]
[[steps]]
do = "settle"
'''


def refusal_by(error: str) -> str:
    """Return the scenario in which A is appended, and B is refused once; the result of B and C is compared."""
    return f"""
title = "a refusal"
story = "B is refused once, then C is sent."
[batches]
A = "0..4"
B = "5..9"
C = "10..14"
{steps_of("A")}
[[steps]]
do = "arm"
name = "B is refused once"
batches = ["B"]
point = "received"
action = {{ kind = "error", error = "{error}" }}
{steps_of("B")}
{steps_of("C")}
[[expect]]
"""


def reaction(client: NamedClient, error: str) -> list[str]:
    """Return producer id, epoch, base sequence and decision of each batch after A."""
    report = run(parse_scenario("reaction", refusal_by(error)), client)
    decided = [moment for moment in report.timeline if moment.kind == "decision"]
    return [
        f"{batch.producer_id}/{batch.producer_epoch}:{batch.base_sequence} {moment.error or moment.decision}"
        for moment in decided[1:]
        if (batch := moment.batch) is not None
    ]


@pytest.mark.java
@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (OUT_OF_ORDER, [f"0/0:5 {OUT_OF_ORDER}", "0/1:0 appended", "0/1:5 appended"]),
        (UNKNOWN, [f"0/0:5 {UNKNOWN}", "0/0:5 appended", "0/0:10 appended"]),
        (FENCED, [f"0/0:5 {FENCED}", "0/1:0 appended"]),
    ],
)
def test_java(java: NamedClient, error: str, seen: list[str]) -> None:
    assert reaction(java, error) == seen


@pytest.mark.clients
@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (OUT_OF_ORDER, [f"0/0:5 {OUT_OF_ORDER}"]),
        (UNKNOWN, [f"0/0:5 {UNKNOWN}", "0/1:0 appended", "0/1:5 appended"]),
        (FENCED, [f"0/0:5 {FENCED}", "0/1:0 appended"]),
    ],
)
def test_confluent_kafka(error: str, seen: list[str]) -> None:
    assert reaction(client_of("confluent"), error) == seen


@pytest.mark.clients
@pytest.mark.parametrize("error", [OUT_OF_ORDER, UNKNOWN, FENCED])
def test_aiokafka_reports_the_error_and_continues_as_if_the_batch_were_appended(error: str) -> None:
    assert reaction(client_of("aiokafka"), error) == [f"0/0:5 {error}", f"0/0:10 {OUT_OF_ORDER}"]


@pytest.mark.clients
@pytest.mark.parametrize("error", [OUT_OF_ORDER, UNKNOWN, FENCED])
def test_kafka_python_reports_the_error_and_continues_with_a_new_producer_id(error: str) -> None:
    assert reaction(client_of("kafka-python"), error) == [f"0/0:5 {error}", "1/0:0 appended"]


# The response to A has a throttle time, for which the broker does not wait.
THROTTLE_TIME_MS = 10_000
WITH_THROTTLE_TIME = f"""
title = "a throttle time"
story = "The response to A has a throttle time, then B is sent."
request_ms = 5000
[batches]
A = "0..4"
B = "5..9"
[[steps]]
do = "arm"
name = "the response to A has a throttle time"
batches = ["A"]
point = "applied"
action = {{ kind = "throttle", ms = {THROTTLE_TIME_MS} }}
{steps_of("A")}
{steps_of("B")}
[[expect]]
log = {{ 0 = ["A", "B"] }}
"""
# A exceeds the quota by so much that the broker mutes the connection for longer than a client waits for a response.
MUTED = f"""
title = "a throttle time above the request timeout"
story = "A exceeds the quota, then B is sent."
request_ms = 700
[batches]
A = "0..199"
B = "200..204"
[[steps]]
do = "set_quota"
key = "producer_byte_rate"
value = 500
{steps_of("A")}
{steps_of("B")}
[[expect]]
log = {{ 0 = ["A", "B"] }}
"""


def waited_ms(client: NamedClient) -> int:
    """Return the time between the requests of A and B."""
    report = run(parse_scenario("throttle-time", WITH_THROTTLE_TIME), client)
    assert report.passed
    first, second = (moment.at_ms for moment in report.timeline if moment.kind == "request" and moment.batch)
    assert first is not None and second is not None
    return second - first


def reconnects(client: NamedClient) -> bool:
    """Return whether B comes over another connection, which is not muted. It is appended once."""
    report = run(parse_scenario("muted", MUTED), client)
    assert report.passed
    return any(moment.text == "reconnects" for moment in report.timeline)


@pytest.mark.clients
@pytest.mark.parametrize("name", ["raw", "confluent", "aiokafka"])
def test_client_that_does_not_wait_for_a_throttle_time_leaves_the_muted_connection(name: str) -> None:
    assert waited_ms(client_of(name)) < THROTTLE_TIME_MS
    assert reconnects(client_of(name))


@pytest.mark.clients
def test_kafka_python_waits_for_a_throttle_time_above_its_request_timeout() -> None:
    assert not reconnects(client_of("kafka-python"))


@pytest.mark.java
def test_java_waits_for_a_throttle_time_above_its_request_timeout(java: NamedClient) -> None:
    assert not reconnects(java)

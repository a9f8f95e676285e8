"""A table of PostgreSQL: the planted faults are found, and nothing else is."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from ..serving_process import Ended, run
from .compared_sides import Planted, make_source, plant, rows_of
from .maven_jars import driver_jar
from .postgres_server import USER, PostgresServer, postgres_server

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

EACH = 8
COMPARE_SECONDS_MAX = 500
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
TABLE = (
    "kafka_partition integer, kafka_offset bigint, id text, customer varchar(20), payload text, written_at timestamptz,"
    " row_number bigint"
)


def time_of(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Planted, Path]:
    seed = Random().randrange(2**32)
    print(f"seed {seed}")
    source = make_source(Random(seed))
    folder = tmp_path_factory.mktemp("source")
    source.write(folder)
    return plant(source, EACH), folder


@pytest.fixture(scope="module")
def server(planted: tuple[Planted, Path]) -> Iterator[PostgresServer]:
    rows = [(*row[1:6], time_of(int(str(row[6]))), row[7]) for row in rows_of(planted[0].arrived)]
    with postgres_server("orders", TABLE, rows) as server:
        yield server


def compare(log: Path, url: str, *arguments: str) -> Ended:
    return run(
        *("compare", *QUICK, "-c", f"spark.jars={driver_jar('postgresql')}", str(log), url),
        *("--right-option", f"user={USER}", "--right-option", "driver=org.postgresql.Driver", *arguments),
        seconds_max=COMPARE_SECONDS_MAX,
    )


def test_planted_faults_by_offset_columns_read_in_parts(planted: tuple[Planted, Path], server: PostgresServer) -> None:
    parts = {"partitionColumn": "row_number", "lowerBound": "0", "upperBound": "1000", "numPartitions": "3"}

    ended = compare(
        *(planted[1], server.url, "--right-option", "dbtable=orders"),
        *(part for name, value in parts.items() for part in ("--right-option", f"{name}={value}")),
        *("--offset-columns", "kafka_partition,kafka_offset", "--right-key", "customer", "--right-value", "payload"),
        *("--right-time", "written_at", "--right-order", "row_number", "--late-after", "1h", "--json", "-"),
    )

    assert ended.exit_code == 1, ended.log
    keys = {one.event_id: one.key for one in planted[0].arrived}
    found = Counter(
        (one["kind"], one["event_id"] if one["kind"] == "extra" else (one["partition"], one["offset"]))
        for one in json.loads(ended.output)["findings"]
    )
    expected = {(kind, keys[str(what)] if kind == "extra" else what): 1 for kind, what in planted[0].expected}
    assert found == Counter(expected)


def test_a_query_by_event_id(planted: tuple[Planted, Path], server: PostgresServer) -> None:
    query = "select id, customer as who from orders where payload <> 'another value'"
    changed = {what for kind, what in planted[0].expected if kind == "changed"}
    lost = {what for kind, what in planted[0].expected if kind == "lost"}

    ended = compare(
        *(planted[1], server.url, "--right-option", f"query={query}", "--caught-up"),
        *("--left-event-id", "header:id", "--right-event-id", "column:id", "--fail-on", "lost", "--json", "-"),
    )

    assert ended.exit_code == 1, ended.log
    findings = json.loads(ended.output)["findings"]
    assert {(one["partition"], one["offset"]) for one in findings if one["kind"] == "lost"} == lost | changed


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("dbtable=absent",), "cannot be read: ERROR: relation "),
        (("query=select broken from",), "cannot be read: ERROR: syntax error"),
        # Spark keeps the server's reason for itself.
        (("dbtable=orders", "user=nobody"), "cannot be read: Failed JDBC jdbc:postgresql:"),
        (("dbtable=orders", "partitionColumn=id"), "cannot be read: "),
        (("dbtable=orders", "driver=no.such.Driver"), "cannot be read: there is no class no.such.Driver; is its jar"),
    ],
)
def test_a_table_that_cannot_be_read_is_one_line(
    planted: tuple[Planted, Path], server: PostgresServer, options: tuple[str, ...], reason: str
) -> None:
    ended = compare(planted[1], server.url, *(part for option in options for part in ("--right-option", option)))

    assert (ended.exit_code, ended.output) == (2, "")
    lines = [line for line in ended.log.splitlines() if line.startswith("fauxka: ")]
    assert len(lines) == 1
    assert lines[0].startswith(f"fauxka: right: {server.url} {reason}")
    assert "Traceback" not in ended.log

"""A table that is read by JDBC: the planted faults are found, and nothing else is."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from ..serving_process import run
from .compared_sides import Sent, clean, make_source, plant, rows_of
from .maven_jars import driver_jar

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

EACH = 8
COMPARE_SECONDS_MAX = 500
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
# The driver says that an integer has 32 bits, which are too few for milliseconds since 1970.
TABLE = (
    "create table orders (topic text, partition integer, offset integer, id text, customer text, payload text,"
    " written_at bigint, row_number integer)"
)


def write_table(file: Path, arrived: Sequence[Sent]) -> None:
    with sqlite3.connect(file) as database:
        database.execute(TABLE)
        database.executemany("insert into orders values (?, ?, ?, ?, ?, ?, ?, ?)", rows_of(arrived))
    database.close()


def compare(log: Path, table: Path, *arguments: str) -> tuple[int, Counter[tuple[str, object]]]:
    """Return the exit code and the findings."""
    ended = run(
        *("compare", *QUICK, "-c", f"spark.jars={driver_jar('sqlite-jdbc')}", str(log), f"jdbc:sqlite:{table}"),
        *("--right-option", "dbtable=orders", "--right-option", "driver=org.sqlite.JDBC", "--json", "-"),
        *("--right-value", "payload", "--right-key", "customer", "--right-order", "row_number"),
        *("--right-time", "timestamp_millis(cast(written_at as bigint))", "--late-after", "1h", *arguments),
        seconds_max=COMPARE_SECONDS_MAX,
    )
    assert ended.exit_code in (0, 1), ended.log
    found: Counter[tuple[str, object]] = Counter()
    for one in json.loads(ended.output)["findings"]:
        is_extra = one["kind"] == "extra"
        found[one["kind"], one["event_id"] if is_extra else (one["partition"], one["offset"])] += 1
    return ended.exit_code, found


def test_planted_faults_by_event_id(tmp_path: Path) -> None:
    seed = Random().randrange(2**32)
    print(f"seed {seed}")
    source = make_source(Random(seed))
    source.write(tmp_path / "log")
    planted = plant(source, EACH)
    write_table(tmp_path / "shop.db", planted.arrived)

    ids = ("--left-event-id", "header:id", "--right-event-id", "column:id")
    exit_code, found = compare(tmp_path / "log", tmp_path / "shop.db", *ids)

    assert exit_code == 1
    assert found == planted.expected


def test_a_table_with_all_records_is_clean(tmp_path: Path) -> None:
    source = make_source(Random(3))
    source.write(tmp_path / "log")
    write_table(tmp_path / "shop.db", clean(source).arrived)

    exit_code, found = compare(tmp_path / "log", tmp_path / "shop.db")

    assert (exit_code, found) == (0, Counter())

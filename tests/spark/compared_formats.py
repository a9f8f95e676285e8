"""A sink with planted faults in a table of another format, and its comparison."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as parquet

from ..serving_process import Ended
from .compared_sides import make_source, plant, rows_of

EACH = 8
WRITER = Path(__file__).with_name("table_writer.py")
QUICK = "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1"
NAMES = ("topic", "partition", "offset", "id", "customer", "payload", "written_at", "row_number")
OF_ROWS = (
    *("--right-key", "customer", "--right-value", "payload", "--right-order", "row_number"),
    *("--right-time", "timestamp_millis(written_at)", "--late-after", "1h"),
)


@dataclass(frozen=True)
class TableFormat:
    """A format of tables. place, settings: with {folder} for the folder of the table."""

    name: str
    place: str
    settings: tuple[str, ...]


def assert_planted_faults_are_found(form: TableFormat, folder: Path, jars: str, python: Callable[..., Ended]) -> None:
    """Write what arrived of a topic as a table with deleted rows, and compare both. python: runs a Python."""
    settings = [one.format(folder=folder) for one in (*form.settings, QUICK, f"spark.jars={jars}")]
    place = form.place.format(folder=folder)
    seed = Random().randrange(2**32)
    print(f"seed {seed}")
    source = make_source(Random(seed))
    source.write(folder / "log")
    planted = plant(source, EACH)
    columns = map(list, zip(*rows_of(planted.arrived), strict=True))
    rows = pa.table(dict(zip(NAMES, columns, strict=True)))
    parquet.write_table(rows, folder / "rows.parquet")  # pyright: ignore[reportUnknownMemberType]
    written = python(str(WRITER), str(folder / "rows.parquet"), form.name, place, *settings)
    assert written.exit_code == 0, written.log

    ended = python(
        *("-m", "fauxka", "compare", "--master", "local[2]", *(part for one in settings for part in ("-c", one))),
        *(str(folder / "log"), place, "--right-format", form.name, *OF_ROWS, "--json", "-"),
    )

    assert ended.exit_code == 1, ended.log
    keys = {one.event_id: one.key for one in planted.arrived}
    found = Counter(
        (one["kind"], one["event_id"] if one["kind"] == "extra" else (one["partition"], one["offset"]))
        for one in json.loads(ended.output)["findings"]
    )
    expected = {(kind, keys[str(what)] if kind == "extra" else what): 1 for kind, what in planted.expected}
    assert found == Counter(expected)

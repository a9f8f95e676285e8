"""`fauxka compare` with sides in an object store: segment files and parquet, read without jars for Spark."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from ..object_store import BUCKET, Bucket, running_bucket, set_variables
from ..serving_process import Ended, run
from .compared_sides import TOPIC, Planted, Sent, make_source, plant, rows_of, write_arrived

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

EACH = 6
RUN_SECONDS_MAX = 400
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
# Without the columns that the names of the folders are.
COLUMNS = ("offset", "id", "customer", "payload", "written_at", "row_number")
OF_ROWS = (
    *("--right-key", "customer", "--right-value", "payload", "--right-order", "row_number"),
    *("--right-time", "timestamp_millis(written_at)", "--late-after", "1h"),
)


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    with running_bucket(tmp_path_factory.mktemp("s3")) as bucket, pytest.MonkeyPatch.context() as patch:
        set_variables(patch, bucket)
        yield bucket


@pytest.fixture(scope="module")
def planted(bucket: Bucket, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """What arrived of the topic at s3://BUCKET/log."""
    seed = Random().randrange(2**32)
    print(f"seed {seed}")
    source = make_source(Random(seed))
    folder = tmp_path_factory.mktemp("source")
    source.write(folder)
    bucket.upload(folder, "log")
    return plant(source, EACH)


def compare(*arguments: str) -> Ended:
    return run("compare", *QUICK, *arguments, seconds_max=RUN_SECONDS_MAX)


def found(verdict: bytes) -> Counter[tuple[str, object]]:
    findings: Counter[tuple[str, object]] = Counter()
    for one in json.loads(verdict)["findings"]:
        is_extra = one["kind"] == "extra"
        findings[one["kind"], one["event_id"] if is_extra else (one["partition"], one["offset"])] += 1
    return findings


def write_partitioned(folder: Path, arrived: Sequence[Sent]) -> None:
    """Write a sink whose folders are named by topic and partition, with files that readers ignore."""
    for number in sorted({one.partition for one in arrived}):
        place = folder / f"topic={TOPIC}" / f"partition={number}"
        place.mkdir(parents=True)
        rows = [row[2:] for row in rows_of(arrived) if row[1] == number]
        columns = map(list, zip(*rows, strict=True))
        table = pa.table(dict(zip(COLUMNS, columns, strict=True)))
        parquet.write_table(table, place / "part-0.parquet")  # pyright: ignore[reportUnknownMemberType]
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / f"topic={TOPIC}" / ".part-0.parquet.crc").write_bytes(b"x")


def test_segment_files_and_a_partitioned_table(bucket: Bucket, planted: Planted, tmp_path: Path) -> None:
    write_partitioned(tmp_path, planted.arrived)
    sink = bucket.upload(tmp_path, "sink")

    ended = compare(f"s3://{BUCKET}/log", sink, *OF_ROWS, "--json", f"s3://{BUCKET}/verdict.json")

    assert ended.exit_code == 1, ended.log
    assert ended.output.startswith(f"Comparison of s3://{BUCKET}/log with {sink}: by offsets\n")
    keys = {one.event_id: one.key for one in planted.arrived}
    expected = {(kind, keys[str(what)] if kind == "extra" else what): 1 for kind, what in planted.expected}
    assert found(bucket.get("verdict.json")) == Counter(expected)


def test_segment_files_on_both_sides(bucket: Bucket, planted: Planted, tmp_path: Path) -> None:
    write_arrived(tmp_path, "copies", planted.arrived)
    copies = bucket.upload(tmp_path, "copies")

    ended = compare(f"s3://{BUCKET}/log", copies, "--event-id", "header:id", "--late-after", "1h", "--json", "-")

    assert ended.exit_code == 1, ended.log
    assert found(ended.output.encode()) == planted.expected


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (f"s3://{BUCKET}/nowhere", f"right: there is no s3://{BUCKET}/nowhere"),
        ("s3://absent-bucket/x", "right: s3://absent-bucket/x cannot be read: The specified bucket does not exist"),
        (
            f"s3://{BUCKET}/x?endpoint_override=127.0.0.1:1&scheme=http",
            f"right: s3://{BUCKET}/x cannot be read: Failed to connect to 127.0.0.1:1",
        ),
        (f"s3://{BUCKET}/no-table", f"right: s3://{BUCKET}/no-table cannot be read: "),
    ],
)
def test_a_side_that_cannot_be_read_is_one_line(bucket: Bucket, planted: Planted, place: str, reason: str) -> None:
    assert planted.arrived
    bucket.put("no-table/text.txt", b"no parquet")

    ended = compare(f"s3://{BUCKET}/log", place)

    assert (ended.exit_code, ended.output) == (2, "")
    assert ended.log.splitlines()[-1].startswith(f"fauxka: {reason}")
    assert "Traceback" not in ended.log

"""Logs, ledgers and outputs in an object store: the same findings as on this machine, and each event once."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.audit_job import AuditRequest, audit
from fauxka.pipeline.checks.sent_ledger import check_sent, read_sent
from fauxka.pipeline.cluster.spark_session import register
from fauxka.pipeline.cluster.stored_files import content_files, find_store
from fauxka.pipeline.cluster.stored_frames import MARKER, read_parquet, write_parquet
from fauxka.pipeline.dedup.dedup_job import DedupCounts, DedupJob, follow, run_batch, start_stream
from fauxka.protocol.batches import records
from fauxka.protocol.batches.records import BatchOptions, Record

from ..object_store import BUCKET, Bucket, running_bucket, set_variables
from ..pipeline.logs_on_disk import GOLDEN, write_segment
from ..serving_process import Ended, environment, run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

RUN_SECONDS_MAX = 400
POLL_SECONDS = 0.05
# The run is too short for the optimising compiler.
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
KILL_ROUNDS = int(os.environ.get("FAUXKA_KILL_ROUNDS", "2"))
# About the duration of a micro-batch of this test.
KILL_SECONDS_MAX = 2.0
CHUNK = 200


def end_jvm() -> None:
    """End the JVM of this process; the next session starts another one."""
    gateway: Any = getattr(SparkContext, "_gateway", None)
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
        vars_of_context: Any = SparkContext
        vars_of_context._gateway = vars_of_context._jvm = None


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    with running_bucket(tmp_path_factory.mktemp("s3")) as bucket, pytest.MonkeyPatch.context() as patch:
        set_variables(patch, bucket)
        # Spark's workers inherit the variables of the JVM, which may have started for other tests.
        end_jvm()
        yield bucket
    end_jvm()


@pytest.fixture(scope="module")
def session(bucket: Bucket, spark: SparkSession) -> SparkSession:
    register(spark)
    return spark


def batch_of(base_offset: int, numbers: Sequence[int]) -> bytes:
    content = [Record(b"v", key=str(number).encode(), timestamp=1000) for number in numbers]
    return records.build_batch(content, BatchOptions(base_offset=base_offset))


def audit_command(*arguments: str) -> Ended:
    return run("audit", *QUICK, *arguments, seconds_max=RUN_SECONDS_MAX)


def test_the_command_has_the_verdict_of_the_same_folder_on_this_machine(bucket: Bucket, tmp_path: Path) -> None:
    uri = bucket.upload(GOLDEN, "golden")
    ledger = bucket.put("sent.jsonl", b'{"event_id": "k1", "topic": "compacted"}\n{"event_id": "x", "topic": "demo"}\n')
    (tmp_path / "sent.jsonl").write_bytes(bucket.get("sent.jsonl"))
    out = f"s3://{BUCKET}/out"

    there = audit_command(
        *("--path", uri, "--event-id", "key", "--sent", ledger),
        *("--json", f"{out}/verdict.json", "--html", f"{out}/page.html", "--parquet", f"{out}/found"),
    )
    here = audit_command("--path", str(GOLDEN), "--event-id", "key", "--sent", str(tmp_path / "sent.jsonl"))

    assert there.exit_code == 1, there.log
    assert there.output.replace(uri, str(GOLDEN)).replace(ledger, str(tmp_path / "sent.jsonl")) == here.output
    assert "lost" in here.output
    verdict = json.loads(bucket.get("out/verdict.json"))
    assert verdict["verdict"] == "findings"
    assert b"lost" in bucket.get("out/page.html")
    assert len(bucket.parquet_rows("out/found")) >= len(verdict["groups"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--path", f"s3://{BUCKET}/nowhere"), f"path: there is no s3://{BUCKET}/nowhere"),
        (("--path", "s3://absent-bucket/x"), "path: s3://absent-bucket/x cannot be read: The specified bucket does"),
        (
            ("--path", f"s3://{BUCKET}/x?endpoint_override=127.0.0.1:1&scheme=http"),
            f"path: s3://{BUCKET}/x cannot be read: Failed to connect to 127.0.0.1:1",
        ),
        (
            ("--path", str(GOLDEN), "--event-id", "key", "--sent", f"s3://{BUCKET}/none"),
            f"sent: there is no s3://{BUCKET}/none",
        ),
        (
            ("--path", str(GOLDEN), "--journal", f"s3://{BUCKET}/none"),
            f"journal: s3://{BUCKET}/none is neither a file nor the address of an admin API",
        ),
        (
            ("--path", str(GOLDEN), "--offsets-out", "s3://absent-bucket/x.json"),
            "offsets-out: s3://absent-bucket/x.json cannot be written: The specified bucket does",
        ),
        (("--path", str(GOLDEN), "--json", "ftp://x/y"), "json: ftp://x/y has the scheme ftp; supported are"),
    ],
)
def test_invalid_input_is_one_line_before_spark_starts(bucket: Bucket, arguments: Sequence[str], words: str) -> None:
    ended = audit_command(*arguments)

    assert ended.exit_code == 2
    assert ended.log.startswith(f"fauxka: {words}"), ended.log
    assert len(ended.log.splitlines()) == 1


def test_a_store_that_denies_a_running_task_is_one_line(bucket: Bucket, session: SparkSession, tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", [batch_of(0, [1])])
    uri = bucket.upload(tmp_path, "denied")
    rows = session.read.format("fauxka-log").load(uri)
    # Planned already.
    rows.count()

    with (
        bucket.failing("denied"),
        pytest.raises(Exception, match=r"BadOption: path: s3://logs/denied.* cannot be read"),
    ):
        rows.collect()


def test_every_finding_is_that_of_the_same_folder(bucket: Bucket, session: SparkSession) -> None:
    uri = bucket.upload(GOLDEN, "golden")

    there, here = (
        sorted(map(str, audit(session, AuditRequest({"path": path}, event_id="key")).collect()))
        for path in (uri, str(GOLDEN))
    )

    assert there == here
    assert len(here) > 3


LEDGER: list[dict[str, object]] = [
    {"event_id": "a", "ordinal": 1, "topic": "t", "other": 0.5},
    {"event_id": "b", "ordinal": 2, "topic": "t", "other": 1.5},
    {"event_id": "c", "ordinal": 3, "topic": None, "other": 2.5},
]


@pytest.mark.parametrize("form", ["parquet", "jsonl", "jsonl.gz", "crlf", "folder", "by topic"])
def test_a_ledger_has_the_same_lines(bucket: Bucket, session: SparkSession, tmp_path: Path, form: str) -> None:
    table = pa.Table.from_pylist(LEDGER)
    if form == "by topic":
        for number, topic in enumerate(("a%20b", "__HIVE_DEFAULT_PARTITION__")):
            place = tmp_path / "sent" / f"topic={topic}" / f"partition={number}" / "a.parquet"
            place.parent.mkdir(parents=True)
            lines = table.drop_columns(["topic"]).slice(2 * number, 2 - number)
            parquet.write_table(lines, place)  # pyright: ignore[reportUnknownMemberType]
    elif form in ("parquet", "folder"):
        place = tmp_path / "sent" / "part=1" / "a.parquet" if form == "folder" else tmp_path / "sent.parquet"
        place.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table, place)  # pyright: ignore[reportUnknownMemberType]
    else:
        end = "\r\n" if form == "crlf" else "\n"
        (tmp_path / "sent.jsonl").write_bytes("".join(f"{json.dumps(line)}{end}" for line in LEDGER).encode())
        if form == "jsonl.gz":
            subprocess.run(["gzip", str(tmp_path / "sent.jsonl")], check=True)
    (name,) = (path.name for path in tmp_path.iterdir())
    bucket.upload(tmp_path, f"ledger-{form}")
    uri = f"s3://{BUCKET}/ledger-{form}/{name}"
    prefix = "json:" if form == "jsonl.gz" else ""

    check_sent(prefix + uri)
    there, here = (read_sent(session, prefix + place) for place in (uri, str(tmp_path / name)))

    assert sorted(map(str, there.collect())) == sorted(map(str, here.collect()))
    assert there.count() == 3


def test_a_sink_in_a_store_is_no_ledger(bucket: Bucket, session: SparkSession, tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{"event_id": "a", "partition": 0, "offset": 7, "amount": 3}])
    parquet.write_table(table, tmp_path / "sink.parquet")  # pyright: ignore[reportUnknownMemberType]

    with pytest.raises(BadOption, match=r"and has amount: it is no ledger\. fauxka compare finds what a sink lost"):
        read_sent(session, bucket.upload(tmp_path, "sink"))


@pytest.mark.parametrize(
    ("place", "files"),
    [
        ("_jobs/*/ledger", ["_jobs/1/ledger/a.parquet", "_jobs/2/ledger/a.parquet"]),
        ("_jobs/1/ledger", ["_jobs/1/ledger/a.parquet"]),
        ("_jobs/1/ledger/*", ["_jobs/1/ledger/a.parquet"]),
        ("_jobs/1/ledger/_*", ["_jobs/1/ledger/_SUCCESS"]),
        ("plain/*", ["plain/b/a.parquet"]),
    ],
)
def test_hidden_names_are_those_below_the_given_path(bucket: Bucket, place: str, files: list[str]) -> None:
    for key in (
        *("_jobs/1/ledger/a.parquet", "_jobs/1/ledger/_SUCCESS", "_jobs/1/ledger/.a.crc", "_jobs/1/ledger_$folder$"),
        *("_jobs/2/ledger/a.parquet", "plain/b/a.parquet", "plain/_b/a.parquet", "plain/b_$folder$"),
    ):
        bucket.put(f"hidden/{key}", b"")
    found = find_store("sent", f"s3://{BUCKET}/hidden/{place}")
    assert found is not None

    assert sorted(content_files(*found)) == [f"s3://{BUCKET}/hidden/{file}" for file in files]


def test_a_stream_reads_one_micro_batch_after_another(bucket: Bucket, session: SparkSession, tmp_path: Path) -> None:
    key = f"stream/t-0/{0:020d}.log"
    stored = [batch_of(number, [number]) for number in range(3)]
    bucket.put(key, stored[0])
    source = session.readStream.format("fauxka-log").options(path=f"s3://{BUCKET}/stream").load()
    writer = source.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))

    counts: list[int] = []
    for end in (1, 2, 3):
        bucket.put(key, b"".join(stored[:end]))
        writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination(RUN_SECONDS_MAX)
        counts.append(session.read.parquet(str(tmp_path / "out")).count())

    assert counts == [1, 2, 3]


def job_of(folder: str, to: str, checkpoint: Path | None) -> DedupJob:
    source = {"path": f"s3://{BUCKET}/{folder}", "topics": "t", "isolationLevel": "read_committed"}
    return DedupJob(source, "key", to, None, "1 hour", None if checkpoint is None else str(checkpoint))


def ids(bucket: Bucket, folder: str) -> list[int]:
    """The event ids of a folder of parquet, read without Spark."""
    return sorted(int(str(row["event_id"])) for row in bucket.parquet_rows(folder))


def run_available(spark: SparkSession, job: DedupJob) -> DedupCounts:
    return follow(start_stream(spark, job, is_endless=False), lambda: False, lambda _: None)


def test_a_stream_keeps_one_copy_over_its_runs(bucket: Bucket, session: SparkSession, tmp_path: Path) -> None:
    key = f"dedup/t-0/{0:020d}.log"
    job = job_of("dedup", f"s3://{BUCKET}/once", tmp_path)
    first_batch = batch_of(0, [*range(30), *range(30)])
    bucket.put(key, first_batch)

    first = run_available(session, job)
    bucket.put(key, first_batch + batch_of(60, range(20, 40)))
    second = run_available(session, job)

    assert first == DedupCounts(records_read=60, kept=30)
    assert second == DedupCounts(records_read=20, kept=10)
    assert ids(bucket, "once") == list(range(40))
    assert {f"once/batch={number}/{MARKER}" for number in range(2)} <= set(bucket.keys("once"))
    with pytest.raises(BadOption, match=r"to: s3://logs/once exists already, and the checkpoint .* is new"):
        start_stream(session, replace(job, checkpoint=str(tmp_path / "new")), is_endless=False)


def forget_commit(checkpoint: Path) -> None:
    """Delete the commit of the first micro-batch and its checksum."""
    for name in ("0", ".0.crc"):
        (checkpoint / "commits" / name).unlink()


def test_a_repeated_micro_batch_replaces_its_objects_until_it_is_marked(
    bucket: Bucket, session: SparkSession, tmp_path: Path
) -> None:
    bucket.put(f"again/t-0/{0:020d}.log", batch_of(0, range(20)))
    job = job_of("again", f"s3://{BUCKET}/again-once", tmp_path)
    run_available(session, job)
    whole = bucket.keys("again-once")
    # As if the driver had been killed before the marker and the commit, with an object of another attempt.
    forget_commit(tmp_path)
    bucket.delete(f"again-once/batch=0/{MARKER}")
    (first, *_) = (key for key in whole if key.endswith(".parquet"))
    bucket.put("again-once/batch=0/part-00099.parquet", bucket.get(first))

    counts = run_available(session, job)
    repeated = bucket.keys("again-once")
    forget_commit(tmp_path)
    bucket.requests()
    run_available(session, job)

    assert counts == DedupCounts(records_read=20, kept=20)
    assert repeated == whole
    assert ids(bucket, "again-once") == list(range(20))
    assert [request for request in bucket.requests() if request.kind in ("PUT", "POST", "DELETE")] == []


def test_a_batch_keeps_one_copy_and_needs_a_new_folder(bucket: Bucket, session: SparkSession) -> None:
    bucket.put(f"batch/t-0/{0:020d}.log", batch_of(0, [*range(30)] * 3))
    job = job_of("batch", f"s3://{BUCKET}/batch-once", None)

    counts = run_batch(session, job)

    assert counts == DedupCounts(records_read=90, kept=30)
    assert ids(bucket, "batch-once") == list(range(30))
    with pytest.raises(BadOption, match=r"to: s3://logs/batch-once exists already, and --batch needs a new folder"):
        run_batch(session, job)


@pytest.mark.parametrize("rows", [[], [(b"one", datetime(2026, 12, 1)), (None, None)]])
def test_a_frame_with_times_is_read_as_it_was_written(
    bucket: Bucket, session: SparkSession, rows: list[tuple[bytes | None, datetime | None]]
) -> None:
    frame = session.createDataFrame(rows, "key binary, time timestamp").coalesce(1)
    found = find_store("to", f"s3://{BUCKET}/times-{len(rows)}")
    assert found is not None
    store, folder = found

    write_parquet("to", frame, store, folder)
    read = read_parquet(session, store, [f"{folder}/part-00000.parquet"])

    assert read.schema == frame.schema
    assert read.collect() == frame.collect()


@pytest.mark.parametrize(("path", "store"), [("s3a://b/x", "s3://b/x"), ("hdfs://h/x", None), ("oss://b/x", None)])
def test_a_frame_of_another_scheme_is_left_to_spark(path: str, store: str | None) -> None:
    found = find_store("to", path)

    assert (None if found is None else found[1]) == store


def test_a_stream_to_an_object_store_needs_a_checkpoint(session: SparkSession) -> None:
    with pytest.raises(BadOption, match=r"^checkpoint: must be set for a stream to an object store"):
        start_stream(session, job_of("batch", f"s3://{BUCKET}/x", None), is_endless=False)


def test_each_event_is_in_the_store_once_after_the_driver_was_killed(bucket: Bucket, tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    place, key = tmp_path / "place", f"killed/t-0/{0:020d}.log"
    arguments = (
        *("--from", "t", "--path", f"s3://{BUCKET}/killed", "--to", f"s3://{BUCKET}/killed-once"),
        *("--event-id", "key", "--checkpoint", str(place), *QUICK),
    )
    content = b""
    for number in range(KILL_ROUNDS):
        # Each chunk repeats half of the previous one, and has each event twice.
        events = range(max(0, number * CHUNK - CHUNK // 2), (number + 1) * CHUNK)
        content += batch_of(4 * number * CHUNK, [*events] * 2)
        bucket.put(key, content)
        before = names(place / "offsets")
        process = start_dedup(*arguments)
        try:
            wait_for_file(process, place / "offsets", before)
            time.sleep(chance.uniform(0, KILL_SECONDS_MAX) if number else 0)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        planned, done = names(place / "offsets"), names(place / "commits")
        print(f"killed with {len(planned)} micro-batches planned and {len(done)} done")
        assert number > 0 or (planned, done) == ({"0"}, set()), "the first one was not killed in the middle"

    ended = run("dedup", *arguments, "--available-now", command=COMMAND, seconds_max=RUN_SECONDS_MAX)

    assert ended.exit_code == 0, ended.log
    assert ids(bucket, "killed-once") == list(range(KILL_ROUNDS * CHUNK))
    marked = {name.split("/")[1] for name in bucket.keys("killed-once") if name.endswith(MARKER)}
    assert {f"batch={number}" for number in names(place / "commits")} == marked


COMMAND = (sys.executable, "-m", "fauxka.pipeline")


def start_dedup(*arguments: str) -> subprocess.Popen[str]:
    """Start the command and its JVM as a process group."""
    return subprocess.Popen(
        [*COMMAND, "dedup", *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("[0-9]*")}


def wait_for_file(process: subprocess.Popen[str], folder: Path, known: set[str]) -> None:
    """Wait until the folder has a new file."""
    deadline = time.monotonic() + RUN_SECONDS_MAX
    while names(folder) <= known:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline, f"nothing new in {folder} after {RUN_SECONDS_MAX} s"
        time.sleep(POLL_SECONDS)

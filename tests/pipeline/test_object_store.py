"""Segment files in an object store: the same rows as on this machine, by few requests."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.log_bounds import bounds_of_files
from fauxka.pipeline.checks.log_state import read_state
from fauxka.pipeline.checks.range_options import is_first_run, range_options
from fauxka.pipeline.read import file_splits, object_store, store_address
from fauxka.pipeline.read.file_log import FileLog
from fauxka.pipeline.read.log_identity import identity_of
from fauxka.pipeline.read.segment_files import find_segments
from fauxka.pipeline.read.store_attempts import UNANSWERED_ATTEMPTS_MAX
from fauxka.pipeline.read.stored_listing import with_listing
from fauxka.storage.checkpoints.checkpoint_files import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCH_CHECKPOINT,
    encode_clean_shutdown,
    encode_leader_epochs,
)

from ..object_store import BUCKET, Bucket, Request, running_bucket, set_variables
from .logs_on_disk import GOLDEN, batch, batches, options_of, read, rows_of, write_segment
from .plain_rows import Row
from .test_committed import Transactions

pytestmark = pytest.mark.processes

NOW_MS = 1_767_268_800_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    with running_bucket(tmp_path_factory.mktemp("s3")) as bucket, pytest.MonkeyPatch.context() as patch:
        set_variables(patch, bucket)
        yield bucket


@pytest.fixture
def bucket(server: Bucket) -> Bucket:
    server.requests()
    return server


def without_file(rows: list[Row]) -> list[Row]:
    return [{name: value for name, value in row.items() if name != "file"} for row in rows]


@pytest.mark.parametrize("view", ["records", "batches"])
@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_a_kafka_folder_has_the_same_rows(bucket: Bucket, view: str, isolation: str) -> None:
    uri = bucket.upload(GOLDEN, "golden")
    options = {"view": view, "isolationLevel": isolation}

    rows = read(path=uri, **options)

    assert without_file(rows) == without_file(read(path=GOLDEN, **options))
    assert len(rows) >= 8
    if view == "batches":
        assert {str(row["file"]).replace(uri, str(GOLDEN)) for row in rows} == {
            row["file"] for row in read(path=GOLDEN, **options)
        }


@pytest.mark.parametrize("place", ["demo-0", "demo-0/00000000000000000002.log", "*mo-0", "demo-*/*2.log", "demo-0/"])
def test_a_partition_a_file_and_a_pattern_are_read(bucket: Bucket, place: str) -> None:
    uri = bucket.upload(GOLDEN, "golden")
    bucket.requests()

    rows = read(path=f"{uri}/{place}")

    assert without_file(rows) == without_file(read(path=GOLDEN / place))
    assert Counter(request.kind for request in bucket.requests())["LIST"] == 1


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n", "S3A"])
def test_hadoops_schemes_are_s3(bucket: Bucket, tmp_path: Path, scheme: str) -> None:
    write_segment(tmp_path / "t-0", batches(0, 2))
    uri = bucket.upload(tmp_path, "schemes")

    rows = read(path=uri.replace("s3", scheme, 1), view="batches")

    assert {row["file"] for row in rows} == {f"s3://{BUCKET}/schemes/t-0/{0:020d}.log"}


def test_the_parameters_of_a_uri_override_the_environment(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_segment(tmp_path / "t-0", batches(0, 2))
    uri = bucket.upload(tmp_path, "parameters")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")

    rows = read(path=f"{uri}?endpoint_override={bucket.endpoint}&scheme=http", view="batches")

    assert [row["base_offset"] for row in rows] == [0, 2]
    assert "?" not in str(rows[0]["file"])


def test_a_file_uri_is_a_file_of_this_machine(tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 2))

    for uri in (f"file://{tmp_path}", f"file:{tmp_path}"):
        assert read(path=uri, view="batches") == read(path=tmp_path, view="batches")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), has_snapshots=st.booleans(), damage=st.integers(0, 2))
def test_any_log_has_the_same_rows(
    bucket: Bucket, tmp_path_factory: pytest.TempPathFactory, seed: int, has_snapshots: bool, damage: int
) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = Transactions(seed)
    log.write(folder / "t-0", has_snapshots=has_snapshots)
    files = sorted((folder / "t-0").glob("*.log"))
    for number in range(damage):
        content = bytearray(files[number].read_bytes())
        place = log.random.randrange(len(content))
        content[place : place + 40] = bytes(len(content[place : place + 40]))
        files[number].write_bytes(content[: len(content) - log.random.randint(0, 30)])
    uri = bucket.upload(folder, f"any/{folder.name}")

    for isolation in ("read_committed", "read_uncommitted"):
        options = {"isolationLevel": isolation, "splitBytes": 1024}
        for view in ("records", "batches"):
            there, here = read(path=uri, view=view, **options), read(path=folder, view=view, **options)
            assert without_file(there) == without_file(here)


def test_the_log_folder_is_listed_at_once_and_small_files_need_no_request(bucket: Bucket, tmp_path: Path) -> None:
    for partition in range(20):
        write_segment(tmp_path / f"t-{partition}", batches(0, 3), index_every=1)
        write_segment(tmp_path / f"t-{partition}", batches(6, 3), index_every=1)
    uri = bucket.upload(tmp_path, "many")
    bucket.requests()

    splits = FileLog(options_of(path=uri)).splits()
    planning = bucket.requests()
    rows = rows_of(splits)
    reading = bucket.requests()

    assert planning == [Request("LIST", "many/")]
    assert len(rows) == 20 * 12
    # Opened and read, each by one request.
    assert Counter(request.kind for request in reading) == {"HEAD": 40, "GET": 40}


def test_a_large_file_is_cut_by_its_index_without_being_read(bucket: Bucket, tmp_path: Path) -> None:
    stored = batches(0, 3000, bytes(900))
    path = write_segment(tmp_path / "t-0", stored, index_every=4)
    uri = bucket.upload(tmp_path, "large")
    bucket.requests()

    splits = FileLog(options_of(path=uri, splitBytes=512 * 1024)).splits()
    planning = bucket.requests()

    assert len(splits) == 11
    of_log = [request for request in planning if request.key.endswith(".log")]
    assert Counter(request.kind for request in planning) == {"LIST": 1, "HEAD": 2, "GET": 11}
    assert sum(request.size for request in of_log) < 1000 < path.stat().st_size / 100
    assert [row["offset"] for row in rows_of(splits)] == list(range(6000))


def test_a_walk_reads_ahead_in_growing_bounded_ranges(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "READ_AHEAD_BYTES_FIRST", 64 * 1024)
    monkeypatch.setattr(object_store, "READ_AHEAD_BYTES_MAX", 256 * 1024)
    stored = batches(0, 3000, bytes(900))
    path = write_segment(tmp_path / "t-0", stored)
    uri = bucket.upload(tmp_path, "walked")
    bucket.requests()

    (end,) = FileLog(options_of(path=uri)).ends().values()
    sizes = [request.size for request in bucket.requests() if request.kind == "GET"]

    assert end.position == path.stat().st_size
    assert sizes[:4] == [64 * 1024, 128 * 1024, 256 * 1024, 256 * 1024]
    assert len(sizes) < 30


def test_an_unchanged_log_costs_a_stream_one_listing(bucket: Bucket, tmp_path: Path) -> None:
    for partition in range(5):
        write_segment(tmp_path / f"t-{partition}", batches(0, 3), index_every=1)
    uri = bucket.upload(tmp_path, "idle")
    log = FileLog(options_of(path=uri))
    first = log.ends()
    bucket.requests()

    again = log.ends()

    assert again == first
    assert bucket.requests() == [Request("LIST", "idle/")]


def test_a_stream_reads_each_batch_once_while_objects_are_replaced(bucket: Bucket, tmp_path: Path) -> None:
    key = f"growing/t-0/{0:020d}.log"
    stored = [batch(2 * number) for number in range(6)]
    bucket.put(key, b"".join(stored[:3]))
    log = FileLog(options_of(path=f"s3://{BUCKET}/growing"))
    start, offsets = log.beginnings(), list[object]()

    for content in (stored[:3], [*stored[:4], stored[4][:-5]], stored):
        bucket.put(key, b"".join(content))
        if content is stored:
            bucket.put(f"growing/t-0/{12:020d}.log", batch(12))
        end = log.ends()
        rows = rows_of(log.splits_between(start, end))
        assert not any(row["damage"] for row in rows)
        offsets += [row["offset"] for row in rows]
        start = end

    assert offsets == list(range(14))


def test_damage_longer_than_a_read_is_skipped(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fauxka.pipeline.decode.batch_search._READ_BYTES", 700)
    stored = [*batches(0, 5, bytes(900)), bytes(5000), *batches(10, 5, bytes(900)), b"x" * 100]
    write_segment(tmp_path / "t-0", batches(0, 1))
    (tmp_path / "t-0" / f"{0:020d}.log").write_bytes(b"".join(stored))
    uri = bucket.upload(tmp_path, "damaged")

    rows = read(path=uri, splitBytes=1024)

    assert without_file(rows) == without_file(read(path=tmp_path, splitBytes=1024))
    assert [row["offset"] for row in rows] == [*range(10), None, *range(10, 20), None]


def test_a_split_of_any_size_is_read_in_small_pieces(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_segment(tmp_path / "t-0", batches(0, 100, bytes(40)), index_every=2)
    uri = bucket.upload(tmp_path, "pieces")
    splits = FileLog(options_of(path=uri)).splits()
    monkeypatch.setattr(file_splits, "PIECE_BYTES", 2000)
    bucket.requests()

    rows = rows_of(splits)

    assert [row["offset"] for row in rows] == list(range(200))
    of_log = [request for request in bucket.requests() if request.key.endswith(".log") and request.kind == "GET"]
    assert max(request.size for request in of_log) < 2500


def test_a_file_deleted_before_its_task_runs_has_no_rows(bucket: Bucket, tmp_path: Path) -> None:
    write_segment(tmp_path / "t-0", batches(0, 3))
    uri = bucket.upload(tmp_path, "deleted")
    splits = FileLog(options_of(path=uri)).splits()

    bucket.delete(f"deleted/t-0/{0:020d}.log")

    assert rows_of(splits) == []


def test_the_checkpoints_and_ids_of_a_log_folder_are_read(bucket: Bucket) -> None:
    uri = bucket.upload(GOLDEN, "golden")

    def wanted(topic: str) -> bool:
        return not topic.startswith("__")

    assert bounds_of_files(find_segments(uri, wanted)) == bounds_of_files(find_segments(str(GOLDEN), wanted))
    assert identity_of(options_of(path=uri)) == identity_of(options_of(path=GOLDEN))


@pytest.mark.parametrize("below", ["", "/demo-0"])
def test_the_state_of_a_listed_log_is_read_without_another_listing(bucket: Bucket, below: str) -> None:
    options = with_listing({"path": bucket.upload(GOLDEN, "state") + below, "topics": "demo"})
    bucket.requests()

    state = read_state(options)

    assert state.bounds
    assert "LIST" not in {request.kind for request in bucket.requests()}


@pytest.mark.parametrize(
    ("below", "more", "begins_at"),
    [("", "", 20), ("", "__remote_log_metadata-3", None), ("/t-0", "__remote_log_metadata-3", None)],
    ids=["missing", "in remote storage", "not known"],
)
def test_the_start_of_a_log_in_a_store_is_missing_if_remote_storage_cannot_have_it(
    bucket: Bucket, tmp_path: Path, below: str, more: str, begins_at: int | None
) -> None:
    log = tmp_path / "log"
    write_segment(log / "t-0", batches(40, 1))
    (log / "t-0" / LEADER_EPOCH_CHECKPOINT).write_bytes(encode_leader_epochs([(0, 20)]))
    (log / CLEAN_SHUTDOWN).write_bytes(encode_clean_shutdown(0))
    if more:
        write_segment(log / more, batches(0, 1))
    uri = bucket.upload(tmp_path, f"start-{len(more)}-{len(below)}") + f"/log{below}"

    state = read_state(with_listing({"path": uri}))

    assert [one.begins_at for one in state.facts] == [begins_at]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (f"s3://{BUCKET}/nowhere", f"there is no s3://{BUCKET}/nowhere"),
        ("s3://no-such-bucket/x", "s3://no-such-bucket/x cannot be read: The specified bucket does not exist"),
        (f"s3://{BUCKET}/empty-folder/t-0/{0:020d}.log", "there is no s3://"),
        ("ftp://host/x", "ftp://host/x has the scheme ftp; supported are file, s3, gs, abfs, abfss, hdfs, s3a, s3n"),
        ("s3://", "s3:// has no bucket; must be such as s3://bucket/folder"),
        (f"s3://{BUCKET}/x?colour=red", "has the parameter colour; those of s3 are endpoint_override, scheme, region"),
        (f"s3://{BUCKET}/x?scheme=ftp", "the parameter scheme must be http or https, not ftp"),
        ("s3://key:secret@bucket/x", "a URI must not contain credentials; set them in the environment"),
        ("file://host/x", "names a host; must be file:/folder or file:///folder"),
    ],
)
def test_an_invalid_uri_is_one_line(bucket: Bucket, path: str, words: str) -> None:
    with pytest.raises(BadOption) as raised:
        read(path=path)

    assert str(raised.value).startswith("path: ")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_denied_store_is_one_line(bucket: Bucket) -> None:
    with bucket.failing("denied"), pytest.raises(BadOption) as raised:
        read(path=f"s3://{BUCKET}/x")

    assert str(raised.value) == f"path: s3://{BUCKET}/x cannot be read: Access Denied (ACCESS_DENIED)"


def test_a_store_that_does_not_respond_fails_after_a_few_requests(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_address, "REQUEST_SECONDS_MAX", 1.0)

    # A region of its own, because the client of an address is kept.
    with bucket.failing("slow"), pytest.raises(BadOption, match=r"^path: s3://logs/x cannot be read: .*1 seconds"):
        read(path=f"s3://{BUCKET}/x?region=slow")

    assert [request.kind for request in bucket.requests()] == ["LIST"] * UNANSWERED_ATTEMPTS_MAX


def test_a_wrong_endpoint_is_one_line(bucket: Bucket) -> None:
    with pytest.raises(BadOption, match=r"^path: s3://logs/x cannot be read: Failed to connect to 127.0.0.1:1 [^\n]*$"):
        read(path=f"s3://{BUCKET}/x?endpoint_override=127.0.0.1:1&scheme=http")


def test_starting_and_ending_offsets_limit_the_objects_read(bucket: Bucket, tmp_path: Path) -> None:
    for base in (0, 10, 20):
        write_segment(tmp_path / "t-0", batches(base, 5))
    uri = bucket.upload(tmp_path, "limited")
    bucket.requests()

    rows = read(path=uri, startingOffsets=json.dumps({"t": {"0": 12}}), endingOffsets=json.dumps({"t": {"0": 15}}))

    assert [row["offset"] for row in rows] == [12, 13, 14]
    assert {request.key for request in bucket.requests()} == {"limited/", f"limited/t-0/{10:020d}.log"}


def test_a_since_file_of_a_store_is_where_the_next_audit_goes_on(bucket: Bucket, tmp_path: Path) -> None:
    (tmp_path / "offsets.json").write_text('{"orders": {"0": 5}}')
    uri = bucket.upload(tmp_path, "ranges") + "/offsets.json"

    assert range_options(uri, None, NOW_MS) == {"startingOffsets": '{"orders": {"0": 5}}'}
    assert not is_first_run(uri, NOW_MS)
    assert range_options(uri.replace("offsets", "later"), None, NOW_MS) == {"startingOffsets": "earliest"}
    assert is_first_run(uri.replace("offsets", "later"), NOW_MS)
    with pytest.raises(BadOption, match="until: must be a time such as"):
        range_options(None, uri.replace("offsets", "later"), NOW_MS)

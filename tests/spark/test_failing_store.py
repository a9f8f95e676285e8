"""Audits of a log in an object store that throttles, deletes objects or goes away: a verdict, or one line.

tests/pipeline/test_failing_store.py has the single requests.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..object_store import Bucket, running_bucket, set_variables
from ..pipeline.logs_on_disk import GOLDEN, batches, write_segment
from ..serving_process import Ended, run
from ..storage_proxy import StorageProxy, storage_proxy

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

RUN_SECONDS_MAX = 400
POLL_SECONDS = 0.1
# The run is too short for the optimising compiler.
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    with running_bucket(tmp_path_factory.mktemp("s3")) as bucket, pytest.MonkeyPatch.context() as patch:
        set_variables(patch, bucket)
        yield bucket


@pytest.fixture
def proxy(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> Iterator[StorageProxy]:
    """A proxy in front of the bucket, through which the command reads."""
    bucket.requests()
    with storage_proxy(bucket.endpoint) as running:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{running.endpoint}")
        yield running


def audit_command(*arguments: str) -> Ended:
    return run("audit", *QUICK, *arguments, seconds_max=RUN_SECONDS_MAX)


def write_log(folder: Path, partitions: int) -> None:
    """Write partitions of three segments with offsets from 0 to 29."""
    for partition in range(partitions):
        for base in (0, 10, 20):
            write_segment(folder / f"t-{partition}", batches(base, 5, bytes(100)), index_every=2)


def test_a_throttled_log_has_the_findings_of_the_same_folder(
    bucket: Bucket, proxy: StorageProxy, tmp_path: Path
) -> None:
    uri = bucket.upload(GOLDEN, "throttled")
    bucket.requests()
    proxy.throttle(0.4)
    options = ("--event-id", "key", "--storage-attempts", "20", "--json")

    there = audit_command("--path", uri, *options, str(tmp_path / "there.json"))
    here = audit_command("--path", str(GOLDEN), *options, str(tmp_path / "here.json"))

    assert there.exit_code == here.exit_code == 1, there.log
    found, expected = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("there", "here"))
    assert json.dumps(found["groups"]).replace(uri, str(GOLDEN)) == json.dumps(expected["groups"])
    assert found["topics"] == expected["topics"]
    assert 0 < found["repeated_requests"] <= sum(proxy.counts.values())
    assert found["waited_seconds"] > 0
    assert f"note: {found['repeated_requests']:,} requests to the store were sent again, after " in there.output
    # At the beginning, and at the end to find deleted files.
    assert Counter(request.kind for request in bucket.requests())["LIST"] == 2


def test_objects_deleted_during_an_audit_make_its_verdict_partial(
    bucket: Bucket, proxy: StorageProxy, tmp_path: Path
) -> None:
    write_log(tmp_path / "log", partitions=2)
    uri = bucket.upload(tmp_path / "log", "deleted")
    (tmp_path / "sent.jsonl").write_text('{"event_id": "x", "topic": "t", "partition": 0}\n')
    pending = [f"deleted/t-0/{0:020d}.log", f"deleted/t-0/{10:020d}.log"]

    def delete_then_answer(kind: str) -> None:
        # The tasks have begun to read.
        if kind == "GET":
            while pending:
                bucket.delete(pending.pop())

    proxy.fault = delete_then_answer

    ended = audit_command("--path", uri, "--json", str(tmp_path / "verdict.json"))

    assert ended.exit_code == 0, ended.log
    assert "note: 2 files of t-0, from offset 0 to 19 were deleted during this audit: lost events" in ended.output
    assert ended.output.endswith("Verdict: clean; 1 partition judged in part\n")
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    deleted = {"topic": "t", "partition": 0, "files": 2, "start_offset": 0, "end_offset": 20, "replica": None}
    assert verdict["deleted"] == [deleted]


def test_an_audit_by_partition_goes_on_where_the_store_went_away(
    bucket: Bucket, proxy: StorageProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_log(tmp_path / "log", partitions=3)
    uri = bucket.upload(tmp_path / "log", "gone")
    verdicts = tmp_path / "verdicts"
    arguments = ("--path", uri, "--by-partition", str(verdicts), "--storage-attempts", "2")

    def close_after_the_first_verdict() -> None:
        while not (verdicts / "t-0.json").exists():
            time.sleep(POLL_SECONDS)
        proxy.close()

    closing = threading.Thread(target=close_after_the_first_verdict, daemon=True)
    closing.start()

    failed = audit_command(*arguments)
    closing.join()
    done = sorted(verdicts.iterdir())
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{bucket.endpoint}")
    before = [file.read_bytes() for file in done]
    ended = audit_command(*arguments)

    assert failed.exit_code == 2
    last = failed.log.splitlines()[-1]
    assert last.startswith("fauxka: path: s3://logs/gone"), failed.log
    assert f"{len(done)} of 3 partitions have a verdict in {verdicts}" in last
    assert ended.exit_code == 0, ended.log
    assert "t-2: Verdict: clean" in ended.output
    assert "t-0: " not in ended.output
    assert ended.output.endswith("Verdicts: 3 partitions, 0 with findings\n")
    assert [file.read_bytes() for file in done] == before

"""Replicas of a partition beside each other: what only one has, and whether it was committed."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.audit_job import AuditRequest, audit, check_request
from fauxka.pipeline.checks.replica_audit import ComparedPartition, audit_replica, compared_frame
from fauxka.pipeline.cluster.spark_session import register
from fauxka.storage.checkpoints.checkpoint_files import REPLICATION_OFFSET_CHECKPOINT, encode_offsets

from ..pipeline.logs_on_disk import batches as stored_batches
from ..pipeline.logs_on_disk import write_segment
from .frames import batch, batches
from .test_audit_command import audit as audit_command

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

# Kind, offset and count.
Found = tuple[str, int, int]


def stored(base_offset: int, epoch: int = 0, crc: int = 1, **others: object) -> dict[str, object]:
    """Return a batch of five records."""
    return batch(base_offset, base_offset, leader_epoch=epoch, crc=crc) | others


@dataclass
class Situation:
    """Two replicas with their high watermarks, and the expected finding."""

    log: list[dict[str, object]]
    replica: list[dict[str, object]]
    found: list[Found] = field(default_factory=list[Found])
    compared_from: int = 0
    watermarks: tuple[int | None, int | None] = (None, None)
    has_both: bool = True


SAME = [stored(0), stored(5, epoch=1)]
SITUATIONS = {
    "equal replicas": Situation(SAME, SAME),
    "a follower that lags behind": Situation(
        [*SAME, stored(10, 1)], SAME, [("unreplicated_records", 10, 5)], watermarks=(10, 10)
    ),
    "a replica that ends in front of its own high watermark": Situation(
        [*SAME, stored(10, 1)], SAME, [("replica_divergence", 10, 5)], watermarks=(15, 15)
    ),
    "records of an old leader that no other replica has": Situation(
        [*SAME, stored(10, 1, crc=7)],
        [*SAME, stored(10, 2), stored(15, 2)],
        [("unreplicated_records", 10, 15)],
        watermarks=(10, 20),
    ),
    "committed records that are different": Situation(
        [*SAME, stored(10, 1, crc=7)],
        [*SAME, stored(10, 2), stored(15, 2)],
        [("replica_divergence", 10, 15)],
        watermarks=(15, 20),
    ),
    "the same bytes of another leader epoch": Situation(
        [stored(0), stored(5, 1)], [stored(0), stored(5, 2)], [("replica_divergence", 5, 10)]
    ),
    "a batch in the middle that one lacks": Situation(
        [stored(0), stored(5), stored(10)], [stored(0), stored(10)], [("replica_divergence", 5, 15)]
    ),
    "a damaged batch is none": Situation(
        [stored(0), stored(5, valid_crc=False, damage="x"), stored(10)],
        [stored(0), stored(5), stored(10)],
        [("replica_divergence", 5, 15)],
    ),
    "differences in front of the log start or in a cleaned part": Situation(
        [stored(0, crc=2), stored(10)], [stored(0), stored(5), stored(10)], compared_from=10
    ),
    "partitions that only one has": Situation(SAME, [], has_both=False),
    "a replica without a batch that has a high watermark": Situation(
        SAME, [], [("replica_divergence", 0, 10)], watermarks=(10, 10)
    ),
    "a replica without a batch that has deleted some": Situation(
        [*SAME, stored(10, 1)], [], [("unreplicated_records", 10, 5)], compared_from=10, watermarks=(10, 10)
    ),
    "a log without a batch that has a high watermark": Situation(
        [], SAME, [("replica_divergence", 0, 10)], watermarks=(10, 10)
    ),
}


@pytest.fixture(scope="module")
def findings(spark: SparkSession) -> list[Row]:
    """Return the findings of all situations."""
    log = [{**row, "topic": name} for name, one in SITUATIONS.items() for row in one.log]
    replica = [{**row, "topic": name} for name, one in SITUATIONS.items() for row in one.replica]
    compared = [
        ComparedPartition(name, 0, one.compared_from, *one.watermarks)
        for name, one in SITUATIONS.items()
        if one.has_both
    ]
    frame = compared_frame(spark, compared)
    return audit_replica(batches(spark, *log), batches(spark, *replica), frame, "/b").collect()


@pytest.mark.parametrize("name", SITUATIONS)
def test_it_finds_that(findings: list[Row], name: str) -> None:
    found = [(row["kind"], row["offset"], row["count"]) for row in findings if row["topic"] == name]

    assert found == SITUATIONS[name].found


def test_the_detail_has_the_records_and_leader_epochs_of_both(findings: list[Row]) -> None:
    details = {row["topic"]: row["detail"] for row in findings}

    assert details["committed records that are different"] == (
        "only the log has 5 records from leader epoch 1 on, only the replica /b has 10 records from leader epoch 2 on;"
        " they agree up to offset 9 of leader epoch 1"
    )
    assert details["a follower that lags behind"].startswith(
        "only the log has 5 records from leader epoch 1 on, only the replica /b has 0 records;"
    )


def folders(folder: Path) -> tuple[Path, Path]:
    """Write two replicas, of which the second lacks the last batch, and another topic that only the first has."""
    log, replica = folder / "node-1", folder / "node-2"
    write_segment(log / "t-0", stored_batches(0, 4))
    shutil.copytree(log, replica)
    write_segment(replica / "t-0", stored_batches(0, 3))
    write_segment(log / "other-0", stored_batches(0, 1))
    (log / REPLICATION_OFFSET_CHECKPOINT).write_bytes(encode_offsets({("t", 0): 8, ("other", 0): 2}))
    return log, replica


@pytest.mark.parametrize(("watermark", "kind"), [(6, "unreplicated_records"), (8, "replica_divergence")])
def test_folders_are_compared(spark: SparkSession, tmp_path: Path, watermark: int, kind: str) -> None:
    register(spark)
    log, replica = folders(tmp_path)
    (replica / REPLICATION_OFFSET_CHECKPOINT).write_bytes(encode_offsets({("t", 0): watermark}))

    found = audit(spark, AuditRequest({"path": str(log)}, replicas=(str(replica),))).collect()

    assert [(row["kind"], row["topic"], row["offset"], row["count"]) for row in found] == [(kind, "t", 6, 2)]


def test_the_command_compares_the_files_of_both(tmp_path: Path) -> None:
    log, replica = folders(tmp_path)
    verdict = tmp_path / "verdict.json"

    ended = audit_command("--path", str(log), "--replica", str(replica), "--json", str(verdict))

    assert ended.exit_code == 0, ended.log
    (group,) = json.loads(verdict.read_text())["groups"]
    found = [(group["kind"], one["topic"], one["offset"], one["count"]) for one in group["examples"]]
    assert found == [("unreplicated_records", "t", 6, 2)]


def test_wrong_replicas_are_refused(tmp_path: Path) -> None:
    log, replica = folders(tmp_path)
    requests = {
        "replica: there is no /nowhere": ({"path": str(log)}, "/nowhere"),
        f"replica: {replica} has none of the audited topics": ({"path": str(log), "topics": "other"}, str(replica)),
        f"replica: {replica} is compared with the whole log, without --since and --until": (
            {"path": str(log), "startingOffsets": '{"t": {"0": 2}}'},
            str(replica),
        ),
    }

    for message, (options, place) in requests.items():
        with pytest.raises(BadOption) as raised:
            check_request(AuditRequest(options, replicas=(place,)))
        assert str(raised.value) == message

"""AddRaftVoter and RemoveRaftVoter (KIP-853), every version: python -m tests.golden.capture_voters HOST:PORT.

Needs a fresh broker with default configuration, which is its only voter, without and with kraft.version 1. A listener
without a name is left out: it ends the process of Kafka 4.3.0.
"""

from fauxka.protocol.kafka_uuid import uuid_text
from fauxka.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from fauxka.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from fauxka.protocol.messages.describe_quorum import DescribeQuorumResponse
from fauxka.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from fauxka.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from fauxka.protocol.primitives import ZERO_UUID

from .capture_quorum import METADATA_TOPIC, describing
from .capture_recorder import Recorder, main

VOTER_ID, NEW_ID = 1, 99
NEW_DIRECTORY_ID = bytes(range(16))
# Nothing listens there, and no connection is refused at once.
UNUSED_PORT = 1
TIMEOUT_MS = 10_000
# controller.quorum.request.timeout.ms, which ends the wait for a new voter.
REQUEST_TIMEOUT_MS = 2_000
OTHER_LISTENER = Listener(name="PLAINTEXT", host="127.0.0.1", port=UNUSED_PORT)
CONTROLLER_LISTENER = Listener(name="CONTROLLER", host="127.0.0.1", port=UNUSED_PORT)


def capture(recorder: Recorder) -> None:
    """Record every case."""
    cluster_id = _cluster_id(recorder)
    recorder.normal_form.name_text(cluster_id, "CLUSTER_ID")
    recorder.normal_form.name_topic_id(NEW_DIRECTORY_ID, "the new directory")
    _refused(recorder, cluster_id, "kraft.version 0")
    update = FeatureUpdateKey(feature="kraft.version", max_version_level=1, upgrade_type=1)
    recorder.case("kraft.version to 1", 2, UpdateFeaturesRequest(timeout_ms=TIMEOUT_MS, feature_updates=[update]))
    recorder.settle()
    directory_id = _directory_id(recorder)
    recorder.normal_form.name_topic_id(directory_id, "the voter's directory")
    recorder.case("the quorum", 2, describing((METADATA_TOPIC, [0])))
    _refused(recorder, cluster_id, "kraft.version 1")
    _voters(recorder, directory_id)
    recorder.case("the quorum afterwards", 2, describing((METADATA_TOPIC, [0])))


def adding(
    voter_id: int = NEW_ID,
    directory_id: bytes = NEW_DIRECTORY_ID,
    *listeners: Listener,
    cluster_id: str | None = None,
) -> AddRaftVoterRequest:
    """Return a request to add a voter."""
    return AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=TIMEOUT_MS,
        voter_id=voter_id,
        voter_directory_id=directory_id,
        listeners=list(listeners),
    )


def removing(
    voter_id: int = NEW_ID, directory_id: bytes = NEW_DIRECTORY_ID, cluster_id: str | None = None
) -> RemoveRaftVoterRequest:
    """Return a request to remove a voter."""
    return RemoveRaftVoterRequest(cluster_id=cluster_id, voter_id=voter_id, voter_directory_id=directory_id)


def _refused(recorder: Recorder, cluster_id: str, level: str) -> None:
    additions = {
        "a new voter": adding(NEW_ID, NEW_DIRECTORY_ID, CONTROLLER_LISTENER),
        "in the cluster": adding(cluster_id=cluster_id),
        "without a directory": adding(NEW_ID, ZERO_UUID, CONTROLLER_LISTENER),
        "in another cluster": adding(NEW_ID, NEW_DIRECTORY_ID, CONTROLLER_LISTENER, cluster_id="another"),
        "in a cluster without a name": adding(NEW_ID, NEW_DIRECTORY_ID, CONTROLLER_LISTENER, cluster_id=""),
        "without listeners": adding(),
        "without the controller listener": adding(NEW_ID, NEW_DIRECTORY_ID, OTHER_LISTENER),
        "without listeners and directory": adding(NEW_ID, ZERO_UUID),
        "voter -1": adding(-1, NEW_DIRECTORY_ID, CONTROLLER_LISTENER),
        "the voter with another directory": adding(VOTER_ID, NEW_DIRECTORY_ID, CONTROLLER_LISTENER),
        "a listener twice": adding(NEW_ID, NEW_DIRECTORY_ID, OTHER_LISTENER, OTHER_LISTENER),
        "several listeners without that of the controller": adding(
            NEW_ID, NEW_DIRECTORY_ID, OTHER_LISTENER, Listener(name="other", host="example.org", port=9999)
        ),
    }
    for case, request in additions.items():
        if level == "kraft.version 1" and case == "a new voter":
            continue
        for version in (0, 1):
            recorder.case(f"{level}: {case}", version, request)
    removals = {
        "an unknown voter": removing(),
        "in the cluster": removing(cluster_id=cluster_id),
        "in another cluster": removing(cluster_id="another"),
        "without a directory": removing(NEW_ID, ZERO_UUID),
        "voter -1": removing(-1),
        "the voter with another directory": removing(VOTER_ID),
        "the voter without a directory": removing(VOTER_ID, ZERO_UUID),
    }
    for case, removal in removals.items():
        recorder.case(f"{level}: {case}", 0, removal)


def _voters(recorder: Recorder, directory_id: bytes) -> None:
    known = adding(VOTER_ID, directory_id, CONTROLLER_LISTENER)
    recorder.each_version("the voter again", (0, 1), lambda _: known)
    # Once only: for a while after an error, Kafka does not try again to connect, and the message differs.
    request = adding(NEW_ID, NEW_DIRECTORY_ID, CONTROLLER_LISTENER)
    recorder.timed_case("a voter that is not there", 1, request, bound_ms=REQUEST_TIMEOUT_MS)
    recorder.case("the only voter is removed", 0, removing(VOTER_ID, directory_id))


def _cluster_id(recorder: Recorder) -> str:
    response = recorder.call(DescribeClusterRequest(), 0, DescribeClusterResponse)
    return response.cluster_id


def _directory_id(recorder: Recorder) -> bytes:
    response = recorder.call(describing((METADATA_TOPIC, [0])), 2, DescribeQuorumResponse)
    directory_id = response.topics[0].partitions[0].current_voters[0].replica_directory_id
    assert uuid_text(directory_id)
    return directory_id


if __name__ == "__main__":
    main(capture)

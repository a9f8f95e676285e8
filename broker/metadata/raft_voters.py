"""The checks of requests to add and remove a voter of the quorum (KIP-853).

The only voter is the controller in the brokers' process. No other process can become one, so that each valid request
fails as it does in Kafka while the new voter cannot be reached.
Source: KafkaRaftClient.handleAddVoterRequest and handleRemoveVoterRequest, AddVoterHandler, RemoveVoterHandler, Kafka
4.3.0; tests/golden/voters-4.3.0.jsonl.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ...protocol.error_codes import ErrorCode, KafkaError
from ...protocol.kafka_uuid import uuid_text
from ...protocol.primitives import ZERO_UUID
from .features import KRAFT_VERSION
from .metadata_image import MetadataImage


class ReplicaKey(NamedTuple):
    """A replica of the metadata log: the id of its node, and of its directory."""

    replica_id: int
    directory_id: bytes

    def __str__(self) -> str:
        """Return the text in Kafka's messages."""
        return f"ReplicaKey(id={self.replica_id}, directoryId={uuid_text(self.directory_id)})"


class _Directories(Protocol):
    @property
    def log_directory_id(self) -> bytes: ...


def controller_replica(image: MetadataImage, node: _Directories) -> ReplicaKey:
    """Return the only voter of the quorum, whose metadata is in the directory of the node."""
    return ReplicaKey(image.configs.controller_id, node.log_directory_id)


def check_voter_request(image: MetadataImage, action: str, cluster_id: str | None, voter: ReplicaKey) -> None:
    """Raise KafkaError for another cluster than this one, or without a valid voter. action: "Add" or "Remove"."""
    if cluster_id is not None and cluster_id != image.cluster_id:
        message = f'The given id "{cluster_id}" doesn\'t match the cluster id "{image.cluster_id}"'
        raise KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, message)
    if voter.replica_id < 0 or voter.directory_id == ZERO_UUID:
        message = f"{action} voter request didn't include a valid voter"
        raise KafkaError(ErrorCode.INVALID_REQUEST, message)


def add_voter_error(image: MetadataImage, voter: ReplicaKey, controller: ReplicaKey) -> KafkaError:
    """Return the error of a request to add a voter that has a valid endpoint."""
    if not image.features.level_of(KRAFT_VERSION):
        return _unsupported("adding")
    if voter.replica_id == controller.replica_id:
        message = f"The voter id for {voter} is already part of the set of voters [{controller}]."
        return KafkaError(ErrorCode.DUPLICATE_VOTER, message)
    message = "Aborted add voter operation for since API_VERSIONS returned an error BROKER_NOT_AVAILABLE"
    return KafkaError(ErrorCode.REQUEST_TIMED_OUT, message)


def remove_voter_error(image: MetadataImage, voter: ReplicaKey, controller: ReplicaKey) -> KafkaError:
    """Return the error of a request to remove a voter. The last one cannot be removed."""
    if not image.features.level_of(KRAFT_VERSION):
        return _unsupported("removing")
    message = f"Cannot remove voter {voter} from the set of voters [{controller}]"
    return KafkaError(ErrorCode.VOTER_NOT_FOUND, message)


def _unsupported(action: str) -> KafkaError:
    message = f"Cluster doesn't support {action} voter because the {KRAFT_VERSION} feature is 0"
    return KafkaError(ErrorCode.UNSUPPORTED_VERSION, message)

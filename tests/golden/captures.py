"""Which capture program writes which golden file, and what both brokers are started with for it."""

from collections.abc import Callable
from pathlib import Path

from . import (
    capture_cluster,
    capture_configs,
    capture_configured,
    capture_connection_limits,
    capture_dead_letters,
    capture_default_replication,
    capture_exhausted_epochs,
    capture_features,
    capture_fetch,
    capture_fetch_sessions,
    capture_list_offsets,
    capture_metadata,
    capture_misrouting,
    capture_offsets_by_topic_id,
    capture_quorum,
    capture_quotas,
    capture_records,
    capture_replicas,
    capture_share_assignments,
    capture_share_groups,
    capture_share_state,
    capture_thread_counts,
    capture_topics,
    capture_transaction_verification,
    capture_unregister_controller,
    capture_voters,
)
from .capture_recorder import Recorder

FOLDER = Path(__file__).parent
KAFKA_VERSION = "4.3.0"
# The programs that ask what only a later Kafka has.
LATER_VERSIONS = {
    "dead_letters": "4.4.0",
    "misrouting": "4.4.0",
    "offsets_by_topic_id": "4.4.0",
    "unregister_controller": "4.4.0",
}
CAPTURES: dict[str, Callable[[Recorder], None]] = {
    "cluster": capture_cluster.capture,
    "configs": capture_configs.capture,
    "configured": capture_configured.capture,
    "connection_limits": capture_connection_limits.capture,
    "dead_letters": capture_dead_letters.capture,
    "default_replication": capture_default_replication.capture,
    "features": capture_features.capture,
    "exhausted_epochs": capture_exhausted_epochs.capture,
    "fetch": capture_fetch.capture,
    "fetch_sessions": capture_fetch_sessions.capture,
    "list_offsets": capture_list_offsets.capture,
    "metadata": capture_metadata.capture,
    "misrouting": capture_misrouting.capture,
    "offsets_by_topic_id": capture_offsets_by_topic_id.capture,
    "quorum": capture_quorum.capture,
    "quotas": capture_quotas.capture,
    "records": capture_records.capture,
    "replicas": capture_replicas.capture,
    "share_assignments": capture_share_assignments.capture,
    "share_groups": capture_share_groups.capture,
    "share_state": capture_share_state.capture,
    "thread_counts": capture_thread_counts.capture,
    "topics": capture_topics.capture,
    "transaction_verification": capture_transaction_verification.capture,
    "unregister_controller": capture_unregister_controller.capture,
    "voters": capture_voters.capture,
}

# What the reference broker's script sets, of what both brokers know: fauxka is started with the same.
REFERENCE_CONFIG = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}

# What a program needs besides, where it needs something.
CONFIG_OF = {
    "configured": capture_configured.CONFIG,
    "connection_limits": capture_connection_limits.CONFIG,
    "dead_letters": capture_dead_letters.CONFIG,
    "share_assignments": capture_share_groups.CONFIG,
    "default_replication": capture_default_replication.CONFIG,
    "share_groups": capture_share_groups.CONFIG,
    "share_state": capture_share_state.CONFIG,
}


def golden_file(name: str) -> Path:
    """Return the file that holds what Kafka answered to the program of that name."""
    return FOLDER / f"{name}-{version_of(name)}.jsonl"


def version_of(name: str) -> str:
    """Return the version of Kafka that answered to the program of that name."""
    return LATER_VERSIONS.get(name, KAFKA_VERSION)

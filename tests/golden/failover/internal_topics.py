"""The topics of the coordinators, created with the leader 1 and the followers 2 and 3 before a node creates them."""

from .recorder import FailoverRecorder
from .requests import Topic

LAYOUT = [[1, 2, 3]]
OFFSETS = "__consumer_offsets"
TRANSACTIONS = "__transaction_state"
SHARE_STATE = "__share_group_state"


def create_internal_topics(recorder: FailoverRecorder) -> dict[str, Topic]:
    """Return the topics by name."""
    return {
        OFFSETS: recorder.create(OFFSETS, LAYOUT, cleanup_policy="compact", compression_type="producer"),
        TRANSACTIONS: recorder.create(TRANSACTIONS, LAYOUT, cleanup_policy="compact", compression_type="uncompressed"),
        SHARE_STATE: recorder.create(SHARE_STATE, LAYOUT, cleanup_policy="delete", retention_ms="-1"),
    }

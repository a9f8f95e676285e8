"""The APIs of transactions."""

from __future__ import annotations

from ..acl_types import AclOperation, ResourceType
from .api import Api, ApiKey, Versions
from .authorization import CHECKED_BY_HANDLER, READ_GROUP, WRITE_TRANSACTION, Authorization, needs_cluster
from .fields import EVERY_VERSION, EntryList, ErrorFields, TopicList, partition_errors, partition_list

APIS = (
    Api(
        ApiKey.INIT_PRODUCER_ID,
        "InitProducerId",
        Versions(0, 5, 2, by_release="2.1 0-1, 2.4 0-2, 2.5 0-3, 2.7 0-4, 3.8 0-5"),
        authorization=Authorization(has_own_rule=True),
        errors=ErrorFields(response_values={"producer_id": -1, "producer_epoch": -1}),
    ),
    Api(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        "AddPartitionsToTxn",
        Versions(0, 5, 3, by_release="2.1 0-1, 2.7 0-2, 2.8 0-3, 3.6 0-4, 3.8 0-5"),
        authorization=Authorization(has_own_rule=True, topics=AclOperation.WRITE),
        requests=(
            TopicList("v3_and_below_topics", partitions="partitions"),
            TopicList("topics", partitions="partitions", owners="transactions", owner_key="transactional_id"),
        ),
        responses=(
            TopicList(
                "results_by_topic_v3_and_below",
                partitions="results_by_partition",
                partition="partition_index",
                error="partition_error_code",
            ),
            TopicList(
                "topic_results",
                partitions="results_by_partition",
                partition="partition_index",
                owners="results_by_transaction",
                owner_key="transactional_id",
                error="partition_error_code",
            ),
        ),
        errors=ErrorFields(last_version_with_topics=3),
    ),
    Api(
        ApiKey.ADD_OFFSETS_TO_TXN,
        "AddOffsetsToTxn",
        Versions(0, 4, 3, by_release="2.1 0-1, 2.7 0-2, 2.8 0-3, 3.8 0-4"),
        authorization=Authorization(whole=(WRITE_TRANSACTION, READ_GROUP)),
    ),
    Api(
        ApiKey.END_TXN,
        "EndTxn",
        Versions(0, 5, 3, by_release="2.1 0-1, 2.7 0-2, 2.8 0-3, 3.8 0-4, 4.0 0-5"),
        authorization=Authorization(whole=(WRITE_TRANSACTION,)),
    ),
    Api(
        ApiKey.WRITE_TXN_MARKERS,
        "WriteTxnMarkers",
        Versions(0, 2, 1, by_release="2.1 0-0, 2.8 0-1, 4.0 1-1, 4.2 1-2"),
        authorization=needs_cluster(AclOperation.ALTER, AclOperation.CLUSTER_ACTION),
        requests=(TopicList("topics", partitions="partition_indexes", owners="markers", owner_key="producer_id"),),
        responses=(partition_errors("topics", owners="markers", owner_key="producer_id"),),
        errors=ErrorFields(last_version_with_maps=EVERY_VERSION),
        is_never_throttled=True,
    ),
    Api(
        ApiKey.TXN_OFFSET_COMMIT,
        "TxnOffsetCommit",
        Versions(0, 6, 3, by_release="2.1 0-2, 2.5 0-3, 3.8 0-4, 4.0 0-5, 4.4 0-6"),
        authorization=Authorization(whole=(WRITE_TRANSACTION, READ_GROUP), topics=AclOperation.READ),
        requests=(partition_list("topics", topic_id="topic_id"),),
        responses=(partition_errors("topics", topic_id="topic_id"),),
    ),
    Api(
        ApiKey.DESCRIBE_TRANSACTIONS,
        "DescribeTransactions",
        Versions(0, 0, 0, by_release="3.0 0-0"),
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID)),
        entries=EntryList("transactional_ids", "transaction_states", key="transactional_id"),
    ),
    Api(
        ApiKey.LIST_TRANSACTIONS,
        "ListTransactions",
        Versions(0, 2, 0, by_release="3.0 0-0, 3.8 0-1, 4.1 0-2"),
        authorization=CHECKED_BY_HANDLER,
    ),
)

"""The APIs of transactions."""

from __future__ import annotations

from ..acl_types import AclOperation, ResourceType
from .api import CHECKED_BY_HANDLER, Api, ApiKey, Authorization, EntryList, ErrorFields, Need, TopicList, on_cluster

APIS = (
    Api(
        ApiKey.INIT_PRODUCER_ID,
        "InitProducerId",
        0,
        5,
        2,
        authorization=Authorization(has_own_rule=True),
        errors=ErrorFields(response_values={"producer_id": -1, "producer_epoch": -1}),
    ),
    Api(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        "AddPartitionsToTxn",
        0,
        5,
        3,
        authorization=Authorization(has_own_rule=True, topics=AclOperation.WRITE),
        requests=(
            TopicList("v3_and_below_topics", partitions="partitions"),
            TopicList("topics", partitions="partitions", owners="transactions", owner_key="transactional_id"),
        ),
        responses=(
            TopicList(
                "results_by_topic_v3_and_below",
                partitions="results_by_partition",
                index="partition_index",
                error="partition_error_code",
            ),
            TopicList(
                "topic_results",
                partitions="results_by_partition",
                index="partition_index",
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
        0,
        4,
        3,
        authorization=Authorization(
            whole=(
                Need(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, "transactional_id"),
                Need(AclOperation.READ, ResourceType.GROUP, "group_id"),
            )
        ),
    ),
    Api(
        ApiKey.END_TXN,
        "EndTxn",
        0,
        5,
        3,
        authorization=Authorization(
            whole=(Need(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, "transactional_id"),)
        ),
    ),
    Api(
        ApiKey.WRITE_TXN_MARKERS,
        "WriteTxnMarkers",
        1,
        2,
        1,
        authorization=Authorization(whole=(on_cluster(AclOperation.ALTER, AclOperation.CLUSTER_ACTION),)),
        requests=(TopicList("topics", partitions="partition_indexes", owners="markers", owner_key="producer_id"),),
        responses=(
            TopicList(
                "topics",
                partitions="partitions",
                index="partition_index",
                owners="markers",
                owner_key="producer_id",
                error="error_code",
            ),
        ),
        errors=ErrorFields(merges_topics=True),
        is_never_throttled=True,
    ),
    Api(
        ApiKey.TXN_OFFSET_COMMIT,
        "TxnOffsetCommit",
        0,
        5,
        3,
        authorization=Authorization(
            whole=(
                Need(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, "transactional_id"),
                Need(AclOperation.READ, ResourceType.GROUP, "group_id"),
            ),
            topics=AclOperation.READ,
        ),
        requests=(TopicList("topics", partitions="partitions", index="partition_index"),),
        responses=(TopicList("topics", partitions="partitions", index="partition_index", error="error_code"),),
    ),
    Api(
        ApiKey.DESCRIBE_TRANSACTIONS,
        "DescribeTransactions",
        0,
        0,
        0,
        authorization=Authorization(entries=(AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID)),
        entries=EntryList("transactional_ids", "transaction_states", key="transactional_id"),
    ),
    Api(ApiKey.LIST_TRANSACTIONS, "ListTransactions", 0, 2, 0, authorization=CHECKED_BY_HANDLER),
)

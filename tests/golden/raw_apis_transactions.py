"""The messages of producer ids, coordinators and transactions, as the golden programs send them."""

from .raw_apis import (
    BOOLEAN,
    ERROR_CODE,
    ERROR_MESSAGE,
    INT8,
    INT16,
    INT32,
    INT64,
    NAME,
    NULLABLE_STRING,
    PARTITION_INDEX,
    PRODUCER_EPOCH,
    PRODUCER_ID,
    STRING,
    THROTTLE,
    TRANSACTIONAL_ID,
    array,
)
from .raw_schema import Api, Array, Field

GROUP_ID = Field("group_id", STRING)
TOPICS_OF_INDEXES = Field("topics", array(NAME, Field("partitions", Array(INT32))))
TOPICS_OF_ERRORS = Field("topics", array(NAME, Field("partitions", array(PARTITION_INDEX, ERROR_CODE))))

INIT_PRODUCER_ID = Api(
    key=22,
    flexible_since=2,
    request=(
        Field("transactional_id", NULLABLE_STRING),
        Field("transaction_timeout_ms", INT32, default=60000),
        Field("producer_id", INT64, 3, default=-1),
        Field("producer_epoch", INT16, 3, default=-1),
        Field("enable_two_phase_commit", BOOLEAN, 6, default=False),
        Field("keep_prepared_transaction", BOOLEAN, 6, default=False),
    ),
    response=(
        THROTTLE,
        ERROR_CODE,
        PRODUCER_ID,
        PRODUCER_EPOCH,
        Field("ongoing_transaction_producer_id", INT64, 6),
        Field("ongoing_transaction_producer_epoch", INT16, 6),
    ),
)

ADD_PARTITIONS_TO_TXN = Api(
    key=24,
    flexible_since=3,
    request=(
        Field(
            "transactions",
            array(
                TRANSACTIONAL_ID,
                PRODUCER_ID,
                PRODUCER_EPOCH,
                Field("verify_only", BOOLEAN, default=False),
                TOPICS_OF_INDEXES,
            ),
            4,
        ),
        Field("transactional_id", STRING, 0, 3),
        Field("producer_id", INT64, 0, 3),
        Field("producer_epoch", INT16, 0, 3),
        Field("topics", TOPICS_OF_INDEXES.kind, 0, 3),
    ),
    response=(
        THROTTLE,
        Field("error_code", INT16, 4),
        Field("results_by_transaction", array(TRANSACTIONAL_ID, TOPICS_OF_ERRORS), 4),
        Field("topics", TOPICS_OF_ERRORS.kind, 0, 3),
    ),
)

ADD_OFFSETS_TO_TXN = Api(
    key=25,
    flexible_since=3,
    request=(TRANSACTIONAL_ID, PRODUCER_ID, PRODUCER_EPOCH, GROUP_ID),
    response=(THROTTLE, ERROR_CODE),
)

END_TXN = Api(
    key=26,
    flexible_since=3,
    request=(TRANSACTIONAL_ID, PRODUCER_ID, PRODUCER_EPOCH, Field("committed", BOOLEAN)),
    response=(THROTTLE, ERROR_CODE, Field("producer_id", INT64, 5), Field("producer_epoch", INT16, 5)),
)

WRITE_TXN_MARKERS = Api(
    key=27,
    flexible_since=1,
    request=(
        Field(
            "markers",
            array(
                PRODUCER_ID,
                PRODUCER_EPOCH,
                Field("transaction_result", BOOLEAN),
                TOPICS_OF_INDEXES,
                Field("coordinator_epoch", INT32),
                Field("transaction_version", INT8, 2, default=0),
            ),
        ),
    ),
    response=(Field("markers", array(PRODUCER_ID, TOPICS_OF_ERRORS)),),
)

TXN_OFFSET_COMMIT = Api(
    key=28,
    flexible_since=3,
    request=(
        TRANSACTIONAL_ID,
        GROUP_ID,
        PRODUCER_ID,
        PRODUCER_EPOCH,
        Field("generation_id", INT32, 3, default=-1),
        Field("member_id", STRING, 3, default=""),
        Field("group_instance_id", NULLABLE_STRING, 3),
        Field(
            "topics",
            array(
                NAME,
                Field(
                    "partitions",
                    array(
                        PARTITION_INDEX,
                        Field("committed_offset", INT64),
                        Field("committed_leader_epoch", INT32, 2, default=-1),
                        Field("committed_metadata", NULLABLE_STRING),
                    ),
                ),
            ),
        ),
    ),
    response=(THROTTLE, TOPICS_OF_ERRORS),
)

TOPICS_OF_OFFSETS = Field(
    "topics",
    array(
        NAME,
        Field(
            "partitions",
            array(
                PARTITION_INDEX,
                Field("committed_offset", INT64),
                Field("committed_leader_epoch", INT32, 5),
                Field("metadata", NULLABLE_STRING),
                ERROR_CODE,
            ),
        ),
    ),
)
OFFSET_FETCH = Api(
    key=9,
    flexible_since=6,
    request=(
        Field(
            "groups",
            array(
                GROUP_ID,
                Field("member_id", NULLABLE_STRING, 9),
                Field("member_epoch", INT32, 9, default=-1),
                TOPICS_OF_INDEXES,
            ),
            8,
        ),
        Field("group_id", STRING, 0, 7),
        Field("topics", TOPICS_OF_INDEXES.kind, 0, 7),
        Field("require_stable", BOOLEAN, 7, default=False),
    ),
    response=(
        Field("throttle_time_ms", INT32, 3),
        Field("groups", array(GROUP_ID, TOPICS_OF_OFFSETS, ERROR_CODE), 8),
        Field("topics", TOPICS_OF_OFFSETS.kind, 0, 7),
        Field("error_code", INT16, 2, 7),
    ),
)

COORDINATOR = (Field("node_id", INT32), Field("host", STRING), Field("port", INT32))
FIND_COORDINATOR = Api(
    key=10,
    flexible_since=3,
    request=(
        Field("key", STRING, 0, 3),
        Field("key_type", INT8, 1, default=0),
        Field("coordinator_keys", Array(STRING), 4),
    ),
    response=(
        Field("throttle_time_ms", INT32, 1),
        Field("error_code", INT16, 0, 3),
        Field("error_message", NULLABLE_STRING, 1, 3),
        *(Field(field.name, field.kind, 0, 3) for field in COORDINATOR),
        Field("coordinators", array(Field("key", STRING), *COORDINATOR, ERROR_CODE, ERROR_MESSAGE), 4),
    ),
)

DESCRIBE_PRODUCERS = Api(
    key=61,
    flexible_since=0,
    request=(TOPICS_OF_INDEXES,),
    response=(
        THROTTLE,
        Field(
            "topics",
            array(
                NAME,
                Field(
                    "partitions",
                    array(
                        PARTITION_INDEX,
                        ERROR_CODE,
                        ERROR_MESSAGE,
                        Field(
                            "active_producers",
                            array(
                                PRODUCER_ID,
                                Field("producer_epoch", INT32),
                                Field("last_sequence", INT32),
                                Field("last_timestamp", INT64),
                                Field("coordinator_epoch", INT32),
                                Field("current_txn_start_offset", INT64),
                            ),
                        ),
                    ),
                ),
            ),
        ),
    ),
)

DESCRIBE_TRANSACTIONS = Api(
    key=65,
    flexible_since=0,
    request=(Field("transactional_ids", Array(STRING)),),
    response=(
        THROTTLE,
        Field(
            "transaction_states",
            array(
                ERROR_CODE,
                TRANSACTIONAL_ID,
                Field("transaction_state", STRING),
                Field("transaction_timeout_ms", INT32),
                Field("transaction_start_time_ms", INT64),
                PRODUCER_ID,
                PRODUCER_EPOCH,
                TOPICS_OF_INDEXES,
            ),
        ),
    ),
)

LIST_TRANSACTIONS = Api(
    key=66,
    flexible_since=0,
    request=(
        Field("state_filters", Array(STRING), default=()),
        Field("producer_id_filters", Array(INT64), default=()),
        Field("duration_filter", INT64, 1, default=-1),
        Field("transactional_id_pattern", NULLABLE_STRING, 2),
    ),
    response=(
        THROTTLE,
        ERROR_CODE,
        Field("unknown_state_filters", Array(STRING)),
        Field(
            "transaction_states",
            array(TRANSACTIONAL_ID, PRODUCER_ID, Field("transaction_state", STRING)),
        ),
    ),
)

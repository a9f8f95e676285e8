"""The messages of topics, records and producers, as the golden programs send them. Field names are Kafka's."""

from .raw_schema import Api, Array, Field, Primitive

INT8, INT16, INT32, INT64 = Primitive.INT8, Primitive.INT16, Primitive.INT32, Primitive.INT64
BOOLEAN, UUID, STRING = Primitive.BOOLEAN, Primitive.UUID, Primitive.STRING
NULLABLE_STRING, NULLABLE_BYTES = Primitive.NULLABLE_STRING, Primitive.NULLABLE_BYTES

THROTTLE = Field("throttle_time_ms", INT32)
ERROR_CODE = Field("error_code", INT16)
ERROR_MESSAGE = Field("error_message", NULLABLE_STRING)
PARTITION_INDEX = Field("index", INT32)
NAME = Field("name", STRING)
TIMEOUT = Field("timeout_ms", INT32, default=30000)
PRODUCER_ID = Field("producer_id", INT64)
PRODUCER_EPOCH = Field("producer_epoch", INT16)
TRANSACTIONAL_ID = Field("transactional_id", STRING)
# Topics are named up to version 12 of Produce and Fetch and identified from 13 on.
NAME_UNTIL_12 = Field("name", STRING, 0, 12)
TOPIC_ID_SINCE_13 = Field("topic_id", UUID, 13)


def array(*fields: Field) -> Array:
    """An array of structs."""
    return Array(fields)


API_VERSIONS = Api(
    key=18,
    flexible_since=3,
    request=(
        Field("client_software_name", STRING, 3, default="golden"),
        Field("client_software_version", STRING, 3, default="1"),
    ),
    response=(
        ERROR_CODE,
        Field("api_keys", array(Field("api_key", INT16), Field("min_version", INT16), Field("max_version", INT16))),
        Field("throttle_time_ms", INT32, 1),
    ),
)

METADATA = Api(
    key=3,
    flexible_since=9,
    request=(
        Field("topics", array(Field("topic_id", UUID, 10), Field("name", NULLABLE_STRING))),
        Field("allow_auto_topic_creation", BOOLEAN, 4, default=True),
        Field("include_cluster_authorized_operations", BOOLEAN, 8, 10, default=False),
        Field("include_topic_authorized_operations", BOOLEAN, 8, default=False),
    ),
    response=(
        Field("throttle_time_ms", INT32, 3),
        Field(
            "brokers",
            array(
                Field("node_id", INT32),
                Field("host", STRING),
                Field("port", INT32),
                Field("rack", NULLABLE_STRING, 1),
            ),
        ),
        Field("cluster_id", NULLABLE_STRING, 2),
        Field("controller_id", INT32, 1),
        Field(
            "topics",
            array(
                ERROR_CODE,
                Field("name", NULLABLE_STRING),
                Field("topic_id", UUID, 10),
                Field("is_internal", BOOLEAN, 1),
                Field(
                    "partitions",
                    array(
                        ERROR_CODE,
                        PARTITION_INDEX,
                        Field("leader_id", INT32),
                        Field("leader_epoch", INT32, 7),
                        Field("replica_nodes", Array(INT32)),
                        Field("isr_nodes", Array(INT32)),
                        Field("offline_replicas", Array(INT32), 5),
                    ),
                ),
                Field("topic_authorized_operations", INT32, 8),
            ),
        ),
        Field("cluster_authorized_operations", INT32, 8, 10),
    ),
)

CREATE_TOPICS = Api(
    key=19,
    flexible_since=5,
    request=(
        Field(
            "topics",
            array(
                NAME,
                Field("num_partitions", INT32),
                Field("replication_factor", INT16),
                Field("assignments", array(PARTITION_INDEX, Field("broker_ids", Array(INT32))), default=()),
                Field("configs", array(NAME, Field("value", NULLABLE_STRING)), default=()),
            ),
        ),
        TIMEOUT,
        Field("validate_only", BOOLEAN, 1, default=False),
    ),
    response=(
        Field("throttle_time_ms", INT32, 2),
        Field(
            "topics",
            array(
                NAME,
                Field("topic_id", UUID, 7),
                ERROR_CODE,
                Field("error_message", NULLABLE_STRING, 1),
                Field("num_partitions", INT32, 5),
                Field("replication_factor", INT16, 5),
                Field(
                    "configs",
                    array(
                        NAME,
                        Field("value", NULLABLE_STRING),
                        Field("read_only", BOOLEAN),
                        Field("config_source", INT8),
                        Field("is_sensitive", BOOLEAN),
                    ),
                    5,
                ),
            ),
        ),
    ),
)

DELETE_TOPICS = Api(
    key=20,
    flexible_since=4,
    request=(Field("topic_names", Array(STRING), 1, 5), TIMEOUT),
    response=(
        Field("throttle_time_ms", INT32, 1),
        Field(
            "responses",
            array(
                Field("name", NULLABLE_STRING),
                Field("topic_id", UUID, 6),
                ERROR_CODE,
                Field("error_message", NULLABLE_STRING, 5),
            ),
        ),
    ),
)

DELETE_RECORDS = Api(
    key=21,
    flexible_since=2,
    request=(
        Field("topics", array(NAME, Field("partitions", array(PARTITION_INDEX, Field("offset", INT64))))),
        TIMEOUT,
    ),
    response=(
        THROTTLE,
        Field(
            "topics",
            array(NAME, Field("partitions", array(PARTITION_INDEX, Field("low_watermark", INT64), ERROR_CODE))),
        ),
    ),
)

PRODUCE = Api(
    key=0,
    flexible_since=9,
    request=(
        Field("transactional_id", NULLABLE_STRING, 3),
        Field("acks", INT16),
        TIMEOUT,
        Field(
            "topics",
            array(
                NAME_UNTIL_12,
                TOPIC_ID_SINCE_13,
                Field("partitions", array(PARTITION_INDEX, Field("records", NULLABLE_BYTES))),
            ),
        ),
    ),
    response=(
        Field(
            "topics",
            array(
                NAME_UNTIL_12,
                TOPIC_ID_SINCE_13,
                Field(
                    "partitions",
                    array(
                        PARTITION_INDEX,
                        ERROR_CODE,
                        Field("base_offset", INT64),
                        Field("log_append_time", INT64, 2),
                        Field("log_start_offset", INT64, 5),
                        Field(
                            "record_errors",
                            array(Field("batch_index", INT32), Field("message", NULLABLE_STRING)),
                            8,
                        ),
                        Field("error_message", NULLABLE_STRING, 8),
                    ),
                ),
            ),
        ),
        Field("throttle_time_ms", INT32, 1),
    ),
)

FETCH = Api(
    key=1,
    flexible_since=12,
    request=(
        Field("replica_id", INT32, 0, 14, default=-1),
        Field("max_wait_ms", INT32, default=100),
        Field("min_bytes", INT32, default=0),
        Field("max_bytes", INT32, 3, default=50_000_000),
        Field("isolation_level", INT8, 4, default=0),
        Field("session_id", INT32, 7, default=0),
        Field("session_epoch", INT32, 7, default=-1),
        Field(
            "topics",
            array(
                NAME_UNTIL_12,
                TOPIC_ID_SINCE_13,
                Field(
                    "partitions",
                    array(
                        PARTITION_INDEX,
                        Field("current_leader_epoch", INT32, 9, default=-1),
                        Field("fetch_offset", INT64),
                        Field("last_fetched_epoch", INT32, 12, default=-1),
                        Field("log_start_offset", INT64, 5, default=-1),
                        Field("partition_max_bytes", INT32, default=10_000_000),
                    ),
                ),
            ),
        ),
        Field(
            "forgotten_topics",
            array(Field("name", STRING, 7, 12), TOPIC_ID_SINCE_13, Field("partitions", Array(INT32))),
            7,
            default=(),
        ),
        Field("rack_id", STRING, 11, default=""),
    ),
    response=(
        Field("throttle_time_ms", INT32, 1),
        Field("error_code", INT16, 7),
        Field("session_id", INT32, 7),
        Field(
            "topics",
            array(
                NAME_UNTIL_12,
                TOPIC_ID_SINCE_13,
                Field(
                    "partitions",
                    array(
                        PARTITION_INDEX,
                        ERROR_CODE,
                        Field("high_watermark", INT64),
                        Field("last_stable_offset", INT64, 4),
                        Field("log_start_offset", INT64, 5),
                        Field("aborted_transactions", array(PRODUCER_ID, Field("first_offset", INT64)), 4),
                        Field("preferred_read_replica", INT32, 11),
                        Field("records", NULLABLE_BYTES),
                    ),
                ),
            ),
        ),
    ),
)

LIST_OFFSETS = Api(
    key=2,
    flexible_since=6,
    request=(
        Field("replica_id", INT32, default=-1),
        Field("isolation_level", INT8, 2, default=0),
        Field(
            "topics",
            array(
                NAME,
                Field(
                    "partitions",
                    array(
                        PARTITION_INDEX,
                        Field("current_leader_epoch", INT32, 4, default=-1),
                        Field("timestamp", INT64),
                    ),
                ),
            ),
        ),
    ),
    response=(
        Field("throttle_time_ms", INT32, 2),
        Field(
            "topics",
            array(
                NAME,
                Field(
                    "partitions",
                    array(
                        PARTITION_INDEX,
                        ERROR_CODE,
                        Field("timestamp", INT64, 1),
                        Field("offset", INT64, 1),
                        Field("leader_epoch", INT32, 4),
                    ),
                ),
            ),
        ),
    ),
)

"""The messages of classic groups, as the golden programs send them. Field names are Kafka's."""

from .raw_apis import ERROR_CODE, INT32, INT64, NULLABLE_BYTES, NULLABLE_STRING, STRING, array
from .raw_schema import Api, Array, Field, Primitive

GROUP_ID = Field("group_id", STRING)
GENERATION_ID = Field("generation_id", INT32)
MEMBER_ID = Field("member_id", STRING)
THROTTLE_SINCE_1 = Field("throttle_time_ms", INT32, 1)


def instance_id_since(version: int) -> Field:
    """The id of a static member (KIP-345)."""
    return Field("group_instance_id", NULLABLE_STRING, version)


JOIN_GROUP = Api(
    key=11,
    flexible_since=6,
    request=(
        GROUP_ID,
        Field("session_timeout_ms", INT32, default=30_000),
        Field("rebalance_timeout_ms", INT32, 1, default=30_000),
        MEMBER_ID,
        instance_id_since(5),
        Field("protocol_type", STRING, default="consumer"),
        Field("protocols", array(Field("name", STRING), Field("metadata", NULLABLE_BYTES))),
        Field("reason", NULLABLE_STRING, 8),
    ),
    response=(
        Field("throttle_time_ms", INT32, 2),
        ERROR_CODE,
        GENERATION_ID,
        Field("protocol_type", NULLABLE_STRING, 7),
        Field("protocol_name", NULLABLE_STRING),
        Field("leader", STRING),
        Field("skip_assignment", Primitive.BOOLEAN, 9),
        MEMBER_ID,
        Field("members", array(MEMBER_ID, instance_id_since(5), Field("metadata", NULLABLE_BYTES))),
    ),
)

SYNC_GROUP = Api(
    key=14,
    flexible_since=4,
    request=(
        GROUP_ID,
        GENERATION_ID,
        MEMBER_ID,
        instance_id_since(3),
        Field("protocol_type", NULLABLE_STRING, 5, default="consumer"),
        Field("protocol_name", NULLABLE_STRING, 5, default="range"),
        Field("assignments", array(MEMBER_ID, Field("assignment", NULLABLE_BYTES))),
    ),
    response=(
        THROTTLE_SINCE_1,
        ERROR_CODE,
        Field("protocol_type", NULLABLE_STRING, 5),
        Field("protocol_name", NULLABLE_STRING, 5),
        Field("assignment", NULLABLE_BYTES),
    ),
)

HEARTBEAT = Api(
    key=12,
    flexible_since=4,
    request=(GROUP_ID, GENERATION_ID, MEMBER_ID, instance_id_since(3)),
    response=(THROTTLE_SINCE_1, ERROR_CODE),
)

LEAVE_GROUP = Api(
    key=13,
    flexible_since=4,
    request=(
        GROUP_ID,
        Field("member_id", STRING, 0, 2),
        Field("members", array(MEMBER_ID, instance_id_since(3), Field("reason", NULLABLE_STRING, 5)), 3),
    ),
    response=(
        THROTTLE_SINCE_1,
        ERROR_CODE,
        Field("members", array(MEMBER_ID, instance_id_since(3), ERROR_CODE), 3),
    ),
)

OFFSET_COMMIT = Api(
    key=8,
    flexible_since=8,
    request=(
        GROUP_ID,
        Field("generation_id", INT32, 1),
        Field("member_id", STRING, 1),
        instance_id_since(7),
        Field("retention_time_ms", INT64, 2, 4, default=-1),
        Field(
            "topics",
            array(
                Field("name", STRING),
                Field(
                    "partitions",
                    array(
                        Field("index", INT32),
                        Field("committed_offset", INT64),
                        Field("committed_leader_epoch", INT32, 6, default=-1),
                        Field("commit_timestamp", INT64, 1, 1, default=-1),
                        Field("committed_metadata", NULLABLE_STRING, default=""),
                    ),
                ),
            ),
        ),
    ),
    response=(
        Field("throttle_time_ms", INT32, 3),
        Field(
            "topics",
            array(Field("name", STRING), Field("partitions", array(Field("index", INT32), ERROR_CODE))),
        ),
    ),
)

DESCRIBE_GROUPS = Api(
    key=15,
    flexible_since=5,
    request=(
        Field("groups", Array(STRING)),
        Field("include_authorized_operations", Primitive.BOOLEAN, 3, default=False),
    ),
    response=(
        THROTTLE_SINCE_1,
        Field(
            "groups",
            array(
                ERROR_CODE,
                Field("error_message", NULLABLE_STRING, 6),
                GROUP_ID,
                Field("group_state", STRING),
                Field("protocol_type", STRING),
                Field("protocol_data", STRING),
                Field(
                    "members",
                    array(
                        MEMBER_ID,
                        instance_id_since(4),
                        Field("client_id", STRING),
                        Field("client_host", STRING),
                        Field("member_metadata", NULLABLE_BYTES),
                        Field("member_assignment", NULLABLE_BYTES),
                    ),
                ),
                Field("authorized_operations", INT32, 3),
            ),
        ),
    ),
)

LIST_GROUPS = Api(
    key=16,
    flexible_since=3,
    request=(Field("states_filter", Array(STRING), 4, default=[]), Field("types_filter", Array(STRING), 5, default=[])),
    response=(
        THROTTLE_SINCE_1,
        ERROR_CODE,
        Field(
            "groups",
            array(
                GROUP_ID,
                Field("protocol_type", STRING),
                Field("group_state", STRING, 4),
                Field("group_type", STRING, 5),
            ),
        ),
    ),
)

DELETE_GROUPS = Api(
    key=42,
    flexible_since=2,
    request=(Field("groups_names", Array(STRING)),),
    response=(Field("throttle_time_ms", INT32), Field("results", array(GROUP_ID, ERROR_CODE))),
)

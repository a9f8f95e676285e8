"""The messages of SASL and of SCRAM users, as the golden programs send them."""

from .raw_apis import ERROR_CODE, ERROR_MESSAGE, INT8, INT32, INT64, NAME, NULLABLE_BYTES, STRING, THROTTLE, array
from .raw_schema import Api, Array, Field

SASL_HANDSHAKE = Api(
    key=17,
    flexible_since=99,
    request=(Field("mechanism", STRING),),
    response=(ERROR_CODE, Field("mechanisms", Array(STRING))),
)

SASL_AUTHENTICATE = Api(
    key=36,
    flexible_since=2,
    request=(Field("auth_bytes", NULLABLE_BYTES),),
    response=(
        ERROR_CODE,
        ERROR_MESSAGE,
        Field("auth_bytes", NULLABLE_BYTES),
        Field("session_lifetime_ms", INT64, 1),
    ),
)

DESCRIBE_USER_SCRAM_CREDENTIALS = Api(
    key=50,
    flexible_since=0,
    request=(Field("users", array(NAME)),),
    response=(
        THROTTLE,
        ERROR_CODE,
        ERROR_MESSAGE,
        Field(
            "results",
            array(
                Field("user", STRING),
                ERROR_CODE,
                ERROR_MESSAGE,
                Field("credential_infos", array(Field("mechanism", INT8), Field("iterations", INT32))),
            ),
        ),
    ),
)

ALTER_USER_SCRAM_CREDENTIALS = Api(
    key=51,
    flexible_since=0,
    request=(
        Field("deletions", array(NAME, Field("mechanism", INT8)), default=()),
        Field(
            "upsertions",
            array(
                NAME,
                Field("mechanism", INT8),
                Field("iterations", INT32),
                Field("salt", NULLABLE_BYTES),
                Field("salted_password", NULLABLE_BYTES),
            ),
            default=(),
        ),
    ),
    response=(THROTTLE, Field("results", array(Field("user", STRING), ERROR_CODE, ERROR_MESSAGE))),
)

"""The messages of SASL, SCRAM users and delegation tokens, as the golden programs send them."""

from .raw_apis import (
    ERROR_CODE,
    ERROR_MESSAGE,
    INT8,
    INT32,
    INT64,
    NAME,
    NULLABLE_BYTES,
    NULLABLE_STRING,
    STRING,
    THROTTLE,
    array,
)
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

_PRINCIPAL = (Field("principal_type", STRING), Field("principal_name", STRING))
_REQUESTER = (
    Field("token_requester_principal_type", STRING, 3),
    Field("token_requester_principal_name", STRING, 3),
)
_HMAC = Field("hmac", NULLABLE_BYTES)
_EXPIRY = (ERROR_CODE, Field("expiry_timestamp_ms", INT64), THROTTLE)

CREATE_DELEGATION_TOKEN = Api(
    key=38,
    flexible_since=2,
    request=(
        Field("owner_principal_type", NULLABLE_STRING, 3),
        Field("owner_principal_name", NULLABLE_STRING, 3),
        Field("renewers", array(*_PRINCIPAL)),
        Field("max_lifetime_ms", INT64),
    ),
    response=(
        ERROR_CODE,
        *_PRINCIPAL,
        *_REQUESTER,
        Field("issue_timestamp_ms", INT64),
        Field("expiry_timestamp_ms", INT64),
        Field("max_timestamp_ms", INT64),
        Field("token_id", STRING),
        _HMAC,
        THROTTLE,
    ),
)

RENEW_DELEGATION_TOKEN = Api(
    key=39, flexible_since=2, request=(_HMAC, Field("renew_period_ms", INT64)), response=_EXPIRY
)

EXPIRE_DELEGATION_TOKEN = Api(
    key=40, flexible_since=2, request=(_HMAC, Field("expiry_time_period_ms", INT64)), response=_EXPIRY
)

DESCRIBE_DELEGATION_TOKEN = Api(
    key=41,
    flexible_since=2,
    request=(Field("owners", array(*_PRINCIPAL)),),
    response=(
        ERROR_CODE,
        Field(
            "tokens",
            array(
                *_PRINCIPAL,
                *_REQUESTER,
                Field("issue_timestamp_ms", INT64),
                Field("expiry_timestamp_ms", INT64),
                Field("max_timestamp_ms", INT64),
                Field("token_id", STRING),
                _HMAC,
                Field("renewers", array(*_PRINCIPAL)),
            ),
        ),
        THROTTLE,
    ),
)

"""The responses ILLEGAL_SASL_STATE to requests of brokers and controllers, whose messages are not generated.

Kafka reads such a request after SaslHandshake, and responds before it closes the connection. The bodies are those
of AbstractRequest.getErrorResponse, Kafka 4.3.0. Unlike Kafka, the body of the request is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import NamedTuple

from ...protocol.api_keys import ApiKey

_SIZE_AND_CORRELATION_ID = Struct(">ii")
_CORRELATION_ID_BYTES = 4
_MESSAGE = b"\x33Request is not valid given the current SASL state."
_ERROR = b"\0\x22"
_NO_THROTTLE = bytes(4)


class _Versions(NamedTuple):
    """A range of versions with one response. is_flexible: the header has tagged fields."""

    first: int
    last: int
    body: bytes
    is_flexible: bool = True


_RAFT = _Versions(0, 2, _ERROR + b"\1\0")
_EPOCH = (_Versions(0, 0, _ERROR + bytes(4), is_flexible=False), _Versions(1, 1, _RAFT.body))
_LIST = _NO_THROTTLE + _ERROR + b"\1\0"
_RESPONSES: Mapping[int, tuple[_Versions, ...]] = {
    ApiKey.VOTE: (_RAFT,),
    ApiKey.BEGIN_QUORUM_EPOCH: _EPOCH,
    ApiKey.END_QUORUM_EPOCH: _EPOCH,
    ApiKey.ALTER_PARTITION: (_Versions(2, 3, _LIST),),
    ApiKey.ENVELOPE: (_Versions(0, 0, b"\0" + _ERROR + b"\0"),),
    ApiKey.FETCH_SNAPSHOT: (_Versions(0, 1, _LIST),),
    ApiKey.BROKER_REGISTRATION: (_Versions(0, 4, _NO_THROTTLE + _ERROR + b"\xff" * 8 + b"\0"),),
    ApiKey.BROKER_HEARTBEAT: (_Versions(0, 2, _NO_THROTTLE + _ERROR + b"\0\1\0\0"),),
    ApiKey.ALLOCATE_PRODUCER_IDS: (_Versions(0, 0, _NO_THROTTLE + _ERROR + bytes(8 + 4 + 1)),),
    ApiKey.CONTROLLER_REGISTRATION: (_Versions(0, 0, _NO_THROTTLE + _ERROR + _MESSAGE + b"\0"),),
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: (
        _Versions(0, 0, _NO_THROTTLE + _ERROR + bytes(16 + 4) + b"\1" + bytes(4 + 4 + 1) + b"\1\0"),
    ),
    ApiKey.PUSH_TELEMETRY: (_Versions(0, 0, _NO_THROTTLE + _ERROR + b"\0"),),
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: (_Versions(0, 0, _LIST),),
    ApiKey.UPDATE_RAFT_VOTER: (_Versions(0, 0, _NO_THROTTLE + _ERROR + b"\0"),),
}


def find_response(api_key: int, version: int, correlation_id: int) -> bytes | None:
    """Return the response frame, size and header included; None for any other API or version."""
    for each in _RESPONSES.get(api_key, ()):
        if each.first <= version <= each.last:
            rest = (b"\0" if each.is_flexible else b"") + each.body
            return _SIZE_AND_CORRELATION_ID.pack(_CORRELATION_ID_BYTES + len(rest), correlation_id) + rest
    return None

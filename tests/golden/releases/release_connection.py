"""A connection that lowers the version of each request to the newest one that the release of the broker has."""

from collections.abc import Mapping, Sequence
from typing import cast

from .. import raw_apis, raw_apis_groups, raw_apis_transactions
from ..raw_batches import stored_batches
from ..raw_client import RawConnection
from ..raw_primitives import RawReader
from ..raw_schema import Api, Array, Field, Primitive, Struct, Value

# The error code that stands for a request that is not sent, because the release lacks what it is about.
NOT_SENT = -9999

# The first and last version of each API of a release, by key.
Ranges = Mapping[int, tuple[int, int]]

_TRANSACTIONS = raw_apis_transactions
# From these versions on, a case is about what came with its version: it is not sent in a lower one.
_OWN_VERSIONS = {
    raw_apis.PRODUCE.key: 12,
    _TRANSACTIONS.END_TXN.key: 5,
    _TRANSACTIONS.TXN_OFFSET_COMMIT.key: 4,
    _TRANSACTIONS.ADD_PARTITIONS_TO_TXN.key: 4,
    _TRANSACTIONS.WRITE_TXN_MARKERS.key: 2,
    _TRANSACTIONS.LIST_TRANSACTIONS.key: 1,
}
# A case is about this version of InitProducerId, which no release serves by default.
_UNSTABLE_INIT_PRODUCER_ID = 6
# The list of the request with an element for each of a list of the response, where the names differ.
_REQUESTED_BY = {"results_by_transaction": "transactions", "transaction_states": "transactional_ids"}

_TRANSACTION_STATE_TOPIC = "__transaction_state"
# By the status in the values of the topic.
_STATE_NAMES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)


class ReleaseConnection(RawConnection):
    """A connection to a broker of a release with these ranges of versions.

    A request that the release cannot have is not sent. Its response has the error code NOT_SENT in each result.
    """

    def __init__(self, address: str, ranges: Ranges) -> None:
        super().__init__(address)
        self.ranges = ranges

    def request(self, api: Api, version: int, body: Mapping[str, Value]) -> bytes:
        lowered = self._lowered(api, version)
        return super().request(api, lowered, _older_request(api, lowered, body))

    def parse(self, api: Api, version: int, response: bytes) -> Struct:
        lowered = self._lowered(api, version)
        return _newer_response(api, lowered, super().parse(api, lowered, response))

    def call(self, api: Api, version: int, body: Mapping[str, Value]) -> Struct:
        if self.has(api, version):
            return super().call(api, version, body)
        response = response_not_sent(api.response, body)
        if api is _TRANSACTIONS.DESCRIBE_TRANSACTIONS:
            self._add_states(response)
        return response

    def has(self, api: Api, version: int = 0) -> bool:
        """Whether the release has the API, and the version if a case is about it."""
        if api.key not in self.ranges:
            return False
        return version <= self.ranges[api.key][1] or version < _OWN_VERSIONS.get(api.key, version + 1)

    def _lowered(self, api: Api, version: int) -> int:
        if api is _TRANSACTIONS.INIT_PRODUCER_ID and version == _UNSTABLE_INIT_PRODUCER_ID:
            return version
        return min(version, self.ranges[api.key][1])

    def _add_states(self, response: Struct) -> None:
        """Add the states of transactional ids from their topic, because cases wait for them."""
        partitions: Value = [{"index": 0, "fetch_offset": 0}]
        body: Mapping[str, Value] = {"topics": [{"name": _TRANSACTION_STATE_TOPIC, "partitions": partitions}]}
        fetched = self.call(raw_apis.FETCH, 12, body).structs("topics")[0].structs("partitions")[0]
        states: dict[bytes, str] = {}
        for batch in stored_batches(fetched.data("records")):
            for record in batch.records or ():
                if record.value is not None:
                    states[(record.key or b"")[4:]] = _state_of(record.value)
        for each in response.structs("transaction_states"):
            each["transaction_state"] = states.get(each.text("transactional_id").encode(), "")


def _state_of(value: bytes) -> str:
    """Return the state of a value of __transaction_state."""
    reader = RawReader(value)
    reader.int16()  # version
    reader.int64()  # producer id
    reader.int16()  # producer epoch
    reader.int32()  # timeout
    return _STATE_NAMES[reader.int8()]


def read_ranges(address: str) -> Ranges:
    """Return the ranges of versions that the broker at "host:port" advertises."""
    with RawConnection(address) as connection:
        answer = connection.call(raw_apis.API_VERSIONS, 0, {})
    return {
        each.integer("api_key"): (each.integer("min_version"), each.integer("max_version"))
        for each in answer.structs("api_keys")
    }


def response_not_sent(fields: tuple[Field, ...], requested: Mapping[str, Value]) -> Struct:
    """Return a response with the error code NOT_SENT for each element of the request."""
    struct = Struct()
    for field in fields:
        kind = field.kind
        if isinstance(kind, Array):
            elements = requested.get(_REQUESTED_BY.get(field.name, field.name))
            struct[field.name] = [_element_not_sent(kind, each) for each in cast("Sequence[Value]", elements or ())]
        elif field.name in requested:
            struct[field.name] = requested[field.name]
        elif field.name == "error_code":
            struct[field.name] = NOT_SENT
        elif kind in (Primitive.NULLABLE_STRING, Primitive.NULLABLE_BYTES):
            struct[field.name] = None
        else:
            struct[field.name] = "" if kind is Primitive.STRING else -1
    return struct


def _element_not_sent(kind: Array, requested: Value) -> Value:
    if not isinstance(kind.item, tuple):
        return requested
    if isinstance(requested, int | str):
        # A partition by its index, a transactional id.
        requested = {"index": requested, "transactional_id": requested}
    return response_not_sent(kind.item, cast("Mapping[str, Value]", requested))


def _older_request(api: Api, version: int, body: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return the fields of a request by the names of an older version."""
    if api is _TRANSACTIONS.OFFSET_FETCH and version < 8:
        return {**body, **cast("Sequence[Mapping[str, Value]]", body["groups"])[0]}
    if api is _TRANSACTIONS.FIND_COORDINATOR and version < 4:
        return {**body, "key": cast("Sequence[str]", body["coordinator_keys"])[0]}
    if api is raw_apis_groups.LEAVE_GROUP and version < 3:
        return {**body, **cast("Sequence[Mapping[str, Value]]", body["members"])[0]}
    return body


def _newer_response(api: Api, version: int, response: Struct) -> Struct:
    """Return a response with the fields that the programs read, if an older version has others."""
    if api is _TRANSACTIONS.OFFSET_FETCH and version < 8:
        return Struct(response, groups=[response])
    if api is _TRANSACTIONS.FIND_COORDINATOR and version < 4:
        return Struct(response, coordinators=[response])
    if api is raw_apis.CREATE_TOPICS and version < 7:
        for topic in response.structs("topics"):
            topic["topic_id"] = bytes(16)
    return response

"""The examples of the OpenAPI description: a request body of each operation that has one, and each error response.

An error is created by the code that responds with it where that takes no broker, so its words are those of a response.
"""

from __future__ import annotations

from copy import deepcopy
from typing import cast

from msgspec import Struct, structs, to_builtins

from ..faults.rule_error import InvalidValueError
from ..faults.rules.near_misses import NearMiss
from ..faults.strict_json import convert, decode_query
from .errors import (
    CallError,
    WaitTimeoutError,
    conflict,
    missing_token,
    of_invalid_value,
    too_large,
    too_many_connections,
    unfinished_request,
    unknown,
)
from .operation import NoParameters, Operation
from .operations.acl_operations import NO_AUTHORIZER
from .operations.certificate_operations import NO_TLS
from .operations.flow_verdicts import Flow, too_many_events
from .operations.user_operations import NO_USERS

Json = dict[str, object]

LOST_ACK: Json = {
    "name": "lose two acknowledgements",
    "match": {"api": "Produce", "topic": "orders", "partition": 0, "key": "order-1"},
    "when": {"times": 2},
    "point": "applied",
    "action": {"kind": "close"},
}
TORN_WRITE: Json = {"operation": "write", "path": {"regex": "orders-0/.*log"}, "action": "tear", "bytes": 100}
PRODUCER: Json = {"producer_id": 0, "topic": "orders", "partition": 0}
# By method and path.
BODIES: dict[str, Json] = {
    "POST /v1/rules": LOST_ACK,
    "PUT /v1/rules/{id}": LOST_ACK,
    "PATCH /v1/rules/{id}": {"enabled": False},
    "POST /v1/held/release": {"ids": [2, 1]},
    "POST /v1/files": TORN_WRITE,
    "PUT /v1/files/{id}": TORN_WRITE,
    "PATCH /v1/files/{id}": {"enabled": False},
    "POST /v1/topics": {"name": "orders", "partitions": 3, "configs": {"retention.ms": "-1"}},
    "POST /v1/topics/{topic}/records": {
        "records": [{"key": "order-1", "value": "one coffee", "headers": [{"name": "event-id", "value": "e1"}]}]
    },
    "POST /v1/topics/{topic}/records/search": {
        "in": "json:order.id",
        "equals": "1001",
        "order": "newest",
        "limit": 100,
    },
    "POST /v1/topics/{topic}/produce": {"records": [{"key": "order-1", "value": "one coffee"}], "acks": -1},
    "POST /v1/producers/forget": PRODUCER,
    "POST /v1/producers/expire": PRODUCER,
    "POST /v1/producers/bump_epoch": PRODUCER,
    "POST /v1/producers/evict_cache": PRODUCER,
    "PUT /v1/groups/{group_id}/offsets": {
        "offsets": [{"topic": "orders", "partition": 0, "offset": 5}],
        "force": False,
    },
    "POST /v1/groups/{group_id}/offsets/reset": {"to": "earliest", "topic": "orders"},
    "POST /v1/acls": {"resource_type": "TOPIC", "name": "orders", "principal": "User:alice", "operation": "WRITE"},
    "POST /v1/certificates": {"kind": "expired", "listener": "SSL", "node": 1},
    "POST /v1/quotas": {"client_id": "my-app", "producer_byte_rate": 20_000},
    "POST /v1/sessions/expire": {"principal": "User:alice", "mechanism": "OAUTHBEARER"},
    "PUT /v1/users/{name}": {"password": "another-secret"},
    "POST /v1/clock": {"mode": "manual", "advance_ms": 60_000, "members": "expire", "skew_ms": 0},
    "POST /v1/processed": {"group": "billing", "topic": "orders", "partition": 0, "offset": [17, 18]},
    "POST /v1/reset": {"scope": "all"},
    "POST /v1/restore": {"id": 1},
    "POST /v1/crash": {"restart_after_ms": 2000, "snapshots": "keep"},
    "POST /v1/restart": {"snapshots": "drop"},
    "POST /v1/nodes/{id}/start": {"as_version": "4.0"},
    "POST /v1/nodes/{id}/stop": {"controlled": False, "noticed": True},
    "POST /v1/nodes/{id}/isolate": {"from": ["controller", "nodes"]},
    "POST /v1/partitions/leader": {"topic": "orders", "partition": 0, "node": 2},
    "POST /v1/replication/pause": {"node": 3, "topic": "orders", "partition": 0},
    "POST /v1/replication/resume": {"node": 3},
    "POST /v1/coordinators/move": {"group_id": "billing", "node": 2},
    "POST /v1/export": {"dir": "after-test-1"},
    "POST /v1/scenarios/{name}/run": {"client": "raw", "as_version": "2.4"},
    "POST /faults": {
        "rules": [{"keys": ["produce"], "topic": "orders", "error": "NOT_LEADER_OR_FOLLOWER", "count": 3}]
    },
    "POST /faults/{id}/wait": {"hits": 3, "timeout": "30s"},
    "POST /oauth/token": {
        "grant_type": "client_credentials",
        "client_id": "alice",
        "client_secret": "secret",
        "scope": "kafka",
    },
}
_NO_TOPIC = CallError(404, "there is no topic 'ordres'; did you mean orders?", field="topic", value="ordres")
_NO_PRODUCER = CallError(404, "producer 7 has no entry in any topic", field="producer_id", value=7)
_EPOCH_AT_MAX = "producer 7 on orders-0 has epoch 32766, which is the greatest"
_PRODUCER_ERRORS = (_NO_PRODUCER, conflict(_EPOCH_AT_MAX, field="producer_id", value=7))
_GROUP_ERRORS = (
    CallError(404, "there is no group 'raeders'", field="group_id", value="raeders", allowed="the id of a group"),
    conflict("classic group readers is Empty with no members: only a group with members rebalances", field="group_id"),
)
NODE_DOWN = "the node is down; POST /v1/restart starts it"
# The errors of single operations by path, in the order of the statuses 404 and 409.
ERRORS: dict[str, tuple[CallError, ...]] = {
    "/v1/rules/{id}": (unknown("rule", 7),),
    "/v1/rules/{id}/await": (unknown("rule", 7),),
    "/v1/files/{id}": (unknown("file rule", 7),),
    "/v1/files/{id}/await": (unknown("file rule", 7),),
    "/v1/held/release": (unknown("held request", 7),),
    "/v1/held/{id}/release": (unknown("held request", 7),),
    "/v1/verdict": (_NO_TOPIC, too_many_events(Flow("orders", "invoices", "header:id"))),
    "/v1/processed": (_NO_TOPIC,),
    **dict.fromkeys((path.partition(" ")[2] for path in BODIES if "/producers/" in path), _PRODUCER_ERRORS),
    "/v1/transactions/{transactional_id}": (
        unknown("transaction", "transfers", field="transactional_id"),
        conflict("transfers cannot be deleted: CONCURRENT_TRANSACTIONS", field="transactional_id", value="transfers"),
    ),
    "/v1/topics/{topic}/compact": (
        conflict("orders is not compacted: it needs cleanup.policy=compact", field="topic"),
    ),
    "/v1/groups/{group_id}/rebalance": _GROUP_ERRORS,
    "/v1/groups/{group_id}/offsets": _GROUP_ERRORS,
    "/v1/groups/{group_id}": (
        _GROUP_ERRORS[0],
        conflict("readers cannot be deleted: NON_EMPTY_GROUP group readers has 1 members", field="group_id"),
    ),
    "/v1/groups/{group_id}/members/{member_id}": (unknown("member", "reader-1", field="member_id"),),
    "/v1/groups/{group_id}/offsets/reset": (
        _GROUP_ERRORS[0],
        conflict(
            "Assignments can only be reset if the group 'readers' is inactive, but the current state is Stable.",
            field="group_id",
        ),
    ),
    "/v1/acls": (conflict(NO_AUTHORIZER),),
    "/v1/certificates": (unknown("node", 7, field="node"), conflict(NO_TLS, field="kind", value="expired")),
    "/v1/quotas": (conflict("cannot write cluster-metadata.json: No space left on device"),),
    **dict.fromkeys(
        ("/v1/users/{name}", "/v1/users/{name}/revoke_tokens", "/v1/users/{name}/expire_tokens"),
        (unknown("user", "alcie", field="name"), conflict(NO_USERS)),
    ),
    "/v1/reset": (conflict("cannot create the topic orders: the disk is full", field="scope"),),
    "/v1/snapshot": (conflict(NODE_DOWN),),
    "/v1/snapshot/{id}": (unknown("snapshot", 7),),
    "/v1/restore": (unknown("snapshot", 7), conflict(NODE_DOWN)),
    "/v1/crash": (unknown("node", 7, field="node"), conflict("the node is already down", field="node", value=1)),
    "/v1/restart": (unknown("node", 7, field="node"), conflict("the node is running", field="node", value=1)),
    "/v1/nodes/{id}/stop": (unknown("node", 7), conflict("node 2 is down (crashed)", field="id", value=2)),
    "/v1/nodes/{id}/start": (unknown("node", 7), conflict("node 2 is running", field="id", value=2)),
    "/v1/nodes/{id}/isolate": (unknown("node", 7), conflict("node 2 is down (crashed)", field="id", value=2)),
    "/v1/nodes/{id}/rejoin": (unknown("node", 7),),
    "/v1/partitions/leader": (
        unknown("node", 7, field="node"),
        conflict("node 2 is not in the ISR of orders-0, which is 1, 3; unclean true allows it", field="node", value=2),
    ),
    "/v1/replication/pause": (
        unknown("node", 7, field="node"),
        conflict("node 2 has no replica of orders-0", field="node", value=2),
    ),
    "/v1/replication/resume": (
        unknown("node", 7, field="node"),
        conflict("node 2 has no replica of orders-0", field="node", value=2),
    ),
    "/v1/coordinators/move": (
        unknown("node", 7, field="node"),
        conflict("billing has no coordinator yet: there is no topic __consumer_offsets", field="group_id"),
    ),
    "/v1/export": (conflict(NODE_DOWN),),
    "/v1/scenarios/{name}/run": (
        unknown("scenario", "lost-akc", field="name"),
        conflict("another scenario is running"),
    ),
    "/v1/scenarios": (conflict("this broker was started without scenarios"),),
    "/faults/{id}": (unknown("fault", 7),),
    "/faults/{id}/wait": (unknown("fault", 7),),
}
_HITS_MISSING = WaitTimeoutError(
    "1 of 2 hits within 5000 ms; 3 requests first differed at topic: payments, not orders",
    1,
    [NearMiss("topic", "orders", "payments", 3, "first differed at topic: payments, not orders")],
)
# The errors of any operation.
_OF_ANY = {
    401: missing_token(),
    403: CallError(403, "browsers may not call this API under the host 'other.test:9099'", field="Host"),
    404: CallError(404, "there is no such id or name"),
    408: unfinished_request(20),
    409: CallError(409, "the state of the broker does not allow this call"),
    413: too_large(2_000_000, 1_048_576),
    431: CallError(431, "invalid HTTP request: the headers are too large"),
    503: too_many_connections(1000),
}


def body_example(operation: Operation) -> Json | None:
    """Return the example of the request body, None without one. Callers may change it."""
    return deepcopy(BODIES.get(f"{operation.method} {operation.path}"))


def error_examples(operation: Operation, status: int) -> dict[str, Json]:
    """Return the examples of an error response by a name."""
    if status == 400:
        return {"invalid": _json(_invalid_call(operation))}
    own = next((error for error in ERRORS.get(operation.path, ()) if error.status == status), None)
    if status == 408 and status in operation.errors:
        return {"wait": _json(_HITS_MISSING), "request": _json(_OF_ANY[status])}
    return {"error": _json(own or _OF_ANY[status])}


def _json(error: CallError) -> Json:
    return cast("Json", deepcopy(to_builtins(error.body())))


def _invalid_call(operation: Operation) -> CallError:
    """Return the error for the example body with a misspelled field, or for a misspelled parameter."""
    body = body_example(operation)
    try:
        if body is not None and operation.body_type is not None:
            name, value = next(iter(body.items()))
            convert({**body, name[:-1]: value}, cast("type[object]", operation.body_type))
        else:
            model = operation.query_type or NoParameters
            decode_query({_misspelled_parameter(model): "1"}, model)
    except InvalidValueError as error:
        return of_invalid_value(error)
    raise AssertionError(f"the example of {operation.path} is not invalid")


def _misspelled_parameter(model: type[Struct]) -> str:
    fields = structs.fields(model)
    return fields[-1].encode_name[:-1] if fields else "verbose"

"""Brokers for tests: start and stop, fault rules, the journal of requests, the verdict on a topic, reset.

with Broker({"num.partitions": 3}) as broker:
    with broker.faults.lost_ack(topic="orders"):
        send_order(broker.bootstrap_servers)
    assert broker.verdict("orders").batches.appended_once == 1

Broker runs in a thread, AsyncBroker on the test's own event loop, and RemoteBroker calls a broker in another process or
a container; AsyncRemoteBroker does so on an event loop. All four offer what the admin API offers, with the same names
and objects. Wrong calls and values raise a FauxkaError; errors.py lists its kinds.

hunt(run, check) calls a function with every fault that its requests can meet; hunting/ has its rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rare_parts import part_loader

if TYPE_CHECKING:
    from . import broker_pool as broker_pool
    from . import client_security as client_security
    from . import failed_test_reports as failed_test_reports
    from . import hunting as hunting
    from . import isolated_tests as isolated_tests
    from . import marked_flow as marked_flow
    from . import token_endpoint as token_endpoint
    from . import tracebacks as tracebacks
    from .async_broker import AsyncBroker
    from .broker import Broker
    from .errors import (
        AmbiguousRuleError,
        BrokerStateError,
        CallError,
        ConfigError,
        FauxkaError,
        InvalidValueError,
        RuleError,
        UnknownConfigKey,
        UnknownRuleError,
        Unreachable,
        WaitTimeoutError,
    )
    from .hunting.errors import BadHuntOption, CannotHunt
    from .hunting.finding import Finding
    from .hunting.in_process import hunt
    from .hunting.replay import replay
    from .hunting.report import report_text
    from .hunting.result import Result
    from .method_types import (
        AclValues,
        AsyncFaults,
        AsyncFiles,
        AsyncRule,
        Faults,
        Files,
        QuotaValues,
        Rule,
        SeedFields,
    )
    from .remote_broker import AsyncRemoteBroker, RemoteBroker

_MODULES = {
    "AclValues": "method_types",
    "AmbiguousRuleError": "errors",
    "AsyncBroker": "async_broker",
    "AsyncFaults": "method_types",
    "AsyncFiles": "method_types",
    "AsyncRemoteBroker": "remote_broker",
    "AsyncRule": "method_types",
    "BadHuntOption": "hunting.errors",
    "Broker": "broker",
    "BrokerStateError": "errors",
    "CallError": "errors",
    "CannotHunt": "hunting.errors",
    "ConfigError": "errors",
    "Faults": "method_types",
    "FauxkaError": "errors",
    "Files": "method_types",
    "Finding": "hunting.finding",
    "InvalidValueError": "errors",
    "QuotaValues": "method_types",
    "RemoteBroker": "remote_broker",
    "Result": "hunting.result",
    "Rule": "method_types",
    "RuleError": "errors",
    "SeedFields": "method_types",
    "UnknownConfigKey": "errors",
    "UnknownRuleError": "errors",
    "Unreachable": "errors",
    "WaitTimeoutError": "errors",
    "hunt": "hunting.in_process",
    "replay": "hunting.replay",
    "report_text": "hunting.report",
}

__all__ = [
    "AclValues",
    "AmbiguousRuleError",
    "AsyncBroker",
    "AsyncFaults",
    "AsyncFiles",
    "AsyncRemoteBroker",
    "AsyncRule",
    "BadHuntOption",
    "Broker",
    "BrokerStateError",
    "CallError",
    "CannotHunt",
    "ConfigError",
    "Faults",
    "FauxkaError",
    "Files",
    "Finding",
    "InvalidValueError",
    "QuotaValues",
    "RemoteBroker",
    "Result",
    "Rule",
    "RuleError",
    "SeedFields",
    "UnknownConfigKey",
    "UnknownRuleError",
    "Unreachable",
    "WaitTimeoutError",
    "hunt",
    "replay",
    "report_text",
]

if not TYPE_CHECKING:
    # A list of commands needs no broker, and a broker needs no hunt.
    __getattr__ = part_loader(__name__, _MODULES)

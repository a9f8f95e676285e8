"""Brokers for tests: start and stop, fault rules, the journal of requests, the verdict on a topic, reset.

with Broker({"num.partitions": 3}) as broker:
    with broker.faults.lost_ack(topic="orders"):
        send_order(broker.bootstrap_servers)
    assert broker.verdict("orders").batches.appended_once == 1

Broker runs in a thread, AsyncBroker on the test's own event loop. Both offer everything that the admin API offers, with
the same names and objects. Wrong calls and values raise a FauxkaError; errors.py lists its kinds.

hunt(run, check) calls a function with every fault that its requests can meet; hunting/ has its rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rare_parts import part_loader

if TYPE_CHECKING:
    from . import acls as acls
    from . import broker_pool as broker_pool
    from . import certificates as certificates
    from . import client_security as client_security
    from . import coordinators as coordinators
    from . import failed_test_reports as failed_test_reports
    from . import faults as faults
    from . import hunting as hunting
    from . import journal as journal
    from . import quotas as quotas
    from . import records as records
    from . import report as report
    from . import sessions as sessions
    from . import snapshots as snapshots
    from . import state as state
    from . import token_endpoint as token_endpoint
    from . import topics as topics
    from . import tracebacks as tracebacks
    from . import users as users
    from .async_broker import AsyncBroker
    from .broker import Broker
    from .errors import (
        AmbiguousRuleError,
        BrokerStateError,
        CallError,
        ConfigError,
        FauxkaError,
        RuleError,
        UnknownConfigKey,
        UnknownRuleError,
        WaitTimeoutError,
    )
    from .hunting.errors import BadHuntOption, CannotHunt
    from .hunting.in_process import hunt
    from .hunting.replay import assert_survives
    from .hunting.report import report_text
    from .hunting.result import Finding, Result

_MODULES = {
    "AmbiguousRuleError": "errors",
    "AsyncBroker": "async_broker",
    "BadHuntOption": "hunting.errors",
    "Broker": "broker",
    "BrokerStateError": "errors",
    "CallError": "errors",
    "CannotHunt": "hunting.errors",
    "ConfigError": "errors",
    "FauxkaError": "errors",
    "Finding": "hunting.result",
    "Result": "hunting.result",
    "RuleError": "errors",
    "UnknownConfigKey": "errors",
    "UnknownRuleError": "errors",
    "WaitTimeoutError": "errors",
    "assert_survives": "hunting.replay",
    "hunt": "hunting.in_process",
    "report_text": "hunting.report",
}

__all__ = [
    "AmbiguousRuleError",
    "AsyncBroker",
    "BadHuntOption",
    "Broker",
    "BrokerStateError",
    "CallError",
    "CannotHunt",
    "ConfigError",
    "FauxkaError",
    "Finding",
    "Result",
    "RuleError",
    "UnknownConfigKey",
    "UnknownRuleError",
    "WaitTimeoutError",
    "assert_survives",
    "hunt",
    "report_text",
]

if not TYPE_CHECKING:
    # A list of commands needs no broker, and a broker needs no hunt.
    __getattr__ = part_loader(__name__, _MODULES)

"""Brokers for tests: start and stop, fault rules, the journal of requests, the verdict on a topic, reset.

with Broker({"num.partitions": 3}) as broker:
    with broker.faults.lost_ack(topic="orders"):
        send_order(broker.bootstrap_servers)
    assert broker.verdict("orders").batches.appended_once == 1

Broker runs in a thread, AsyncBroker on the test's own event loop. Both offer everything that the admin API offers, with
the same names and objects. Wrong calls and values raise a FauxkaError; errors.py lists its kinds.
"""

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

__all__ = [
    "AmbiguousRuleError",
    "AsyncBroker",
    "Broker",
    "BrokerStateError",
    "CallError",
    "ConfigError",
    "FauxkaError",
    "RuleError",
    "UnknownConfigKey",
    "UnknownRuleError",
    "WaitTimeoutError",
]

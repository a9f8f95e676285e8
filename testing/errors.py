"""The errors of this package.

Every error for a wrong argument or call is a FauxkaError:

- InvalidValueError: an invalid argument; `field`, `value` and `allowed` are attributes.
- RuleError: an InvalidValueError of a rule, a recipe argument, a filter, an event id or a scope.
- CallError: a call that the state of the broker does not allow, with the status that the admin API responds with.
- WaitTimeoutError: fewer hits than expected within the timeout; a CallError and a TimeoutError.
- UnknownRuleError, AmbiguousRuleError: no rule in force has a name, or several have it; both are a LookupError.
- ConfigError: a config that Kafka would refuse. UnknownConfigKey: a key that does not exist.
- BrokerStateError: a call before the start or after the stop.
- Unreachable: no broker responds to the calls of a RemoteBroker. It is no FauxkaError.
- CannotHunt, BadHuntOption: see hunting/errors.py.
"""

from __future__ import annotations

from .. import FauxkaError
from ..admin.errors import BrokerStateError, CallError, Unreachable, WaitTimeoutError
from ..broker.config.config_types import ConfigError, UnknownConfigKey
from ..faults.rule_error import InvalidValueError, RuleError
from ..faults.rules.rule_lookup import AmbiguousRuleError, UnknownRuleError

__all__ = [
    "AmbiguousRuleError",
    "BrokerStateError",
    "CallError",
    "ConfigError",
    "FauxkaError",
    "InvalidValueError",
    "RuleError",
    "UnknownConfigKey",
    "UnknownRuleError",
    "Unreachable",
    "WaitTimeoutError",
]

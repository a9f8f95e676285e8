"""From a rule to the fault that each of its hits is: the numbers of its action, and how much of a request it is for."""

from __future__ import annotations

from ...protocol.api_keys import APIS
from ...protocol.error_codes import ErrorCode
from ...protocol.errors.partial_errors import can_answer_error
from .fault import PARTITION, REQUEST, TOPIC, Fault
from .fault_rules import Action, Corrupt, Crash, Delay, Drip, Error, FaultRule, Hang, Hold, Throttle, Truncate, kind_of
from .match import BATCH_FIELDS, Match
from .match_outcome import Matched

_APIS_BY_NAME = {api.name: api for api in APIS.values()}


class FaultTemplate:
    """Makes the faults of one rule."""

    def __init__(self, rule_id: int, rule: FaultRule) -> None:
        """Take what is the same for each hit from the rule, which has been checked."""
        self._rule_id = rule_id
        self._action = rule.action
        self._kind = kind_of(rule.action)
        self._is_of_part = is_of_part(rule.match)

    def fault(self, matched: Matched, api_name: str) -> Fault:
        """Return what is done to a request of which this matched; api_name: "" for a connection."""
        fault = Fault(rule_id=self._rule_id, kind=self._kind, partitions=matched.partitions, topics=matched.topics)
        _set_numbers(fault, self._action)
        if isinstance(self._action, Error):
            scope = self._action.scope or self._default_scope(matched)
            # A rule for any API meets some whose answers have no place for less than the whole.
            api = _APIS_BY_NAME.get(api_name)
            fault.scope = scope if api is not None and can_answer_error(api, scope) else REQUEST
        return fault

    def _default_scope(self, matched: Matched) -> str:
        if self._is_of_part and matched.partitions:
            return PARTITION
        return TOPIC if matched.topics else REQUEST


def is_of_part(match: Match) -> bool:
    """Whether the match asks for something of a partition or a batch, beyond the topic."""
    return any(getattr(match, name) is not None for name in BATCH_FIELDS if name != "topic")


def error_code_of(error: str | int) -> int:
    """Return the code of an error's name, or the code itself. Raises KeyError for a name that Kafka has not."""
    return error if isinstance(error, int) else ErrorCode[error].value


def _set_numbers(fault: Fault, action: Action) -> None:
    match action:
        case Error():
            fault.error_code = error_code_of(action.error)
        case Delay():
            fault.ms, fault.release_order = action.ms, action.release_order
        case Hang() | Hold():
            fault.release_order = action.release_order
        case Throttle():
            fault.ms = action.ms
        case Truncate():
            fault.byte_count = action.bytes
        case Corrupt():
            fault.at, fault.byte_count = action.at, action.bytes
        case Drip():
            fault.byte_count, fault.every_ms = action.bytes, action.every_ms
        case Crash():
            fault.restart_after_ms = action.restart_after_ms
        case _:
            pass

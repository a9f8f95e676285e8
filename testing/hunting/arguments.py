"""How to hunt, as arguments of the functions, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from ...faults.event_ids import VALUE
from ..broker_pool import Configuration, broker_with
from .budget import Budget, budget_of
from .errors import BadHuntOption
from .event_id import check_event_id
from .fault_choice import choice_of
from .functions import PrepareFunction
from .options import Options
from .promise import Promise, promise_of
from .run import NO_GROUPS, Check, Setting

if TYPE_CHECKING:
    from ..broker import Broker
    from ..config_entries import ConfigEntry


REPLICATION = "default.replication.factor"
REPLICAS_MAX = 3
_OF_LISTS = {
    "topics": "topics",
    "groups": "groups",
    "include": "origins",
    "only": "names of faults",
    "skip": "names of faults",
}


class How(TypedDict, total=False):
    """How to hunt.

    topics: their events are compared with those of a run without faults. event_id: see event_ids.
    groups: consumer groups; what they get and commit is judged.
    processed: whether the program reports what it processes, by which the groups are judged.
    expect: "exactly-once", the default, or another value of Promise.
    budget: a duration such as "60s", or a number of trials.
    timeout_seconds: of one run; by default 5 times the run without faults, at least 10.
    restarts: how often the program is started again, without more faults, after it has failed; 0 by default.
    config, nodes, as_version: of each broker, as in Broker; with several nodes, partitions have up to three replicas.
    seed_topics: topics with their numbers of partitions, None for num.partitions.
    prepare: a function or a coroutine function, called with each broker before the program, without faults, for 60 s.
    jobs: runs at a time. pairs: how many pairs of faults are tried, at most; by default as many as there are faults.
    seed: of their choice.
    include: origins of faults that are tried too, "proxy" and "defective". only, skip: names of faults.
    first: whether to end with the first finding that is confirmed.
    """

    topics: Sequence[str]
    groups: Sequence[str]
    processed: bool
    event_id: str
    expect: str
    budget: str | int
    timeout_seconds: float
    restarts: int
    config: Mapping[str, ConfigEntry]
    nodes: int
    as_version: str | None
    seed_topics: Mapping[str, int | None]
    prepare: Callable[[Broker], object]
    jobs: int
    pairs: int
    seed: int
    include: Sequence[str]
    only: Sequence[str]
    skip: Sequence[str]
    first: bool


def options_of(how: How, check: Check | None, budget: Budget) -> Options:
    """Return the options. budget: the default. Raises BadHuntOption, and what Configuration.of raises."""
    unknown = sorted(how.keys() - How.__annotations__.keys())
    if unknown:
        allowed = ", ".join(How.__annotations__)
        raise BadHuntOption(f"{unknown[0]}: there is no such argument; allowed: {allowed}")
    for name, least in (("jobs", 1), ("nodes", 1), ("pairs", 0), ("restarts", 0)):
        value = how.get(name, least)
        if not isinstance(value, int) or value < least:
            raise BadHuntOption(f"{name}: {value!r}; allowed: an integer >= {least}")
    if "timeout_seconds" in how:
        _check_seconds(how["timeout_seconds"])
    if how.get("processed", False) and not how.get("groups"):
        raise BadHuntOption(f"processed: {NO_GROUPS}")
    prepare = how.get("prepare")
    setting = Setting(
        topics=_names_of(how.get("topics", ()), "topics"),
        groups=_names_of(how.get("groups", ()), "groups"),
        is_processed=how.get("processed", False),
        event_id=check_event_id(how.get("event_id", VALUE), "event_id"),
        broker=configuration_of(how.get("config", {}), how.get("nodes", 1), how.get("as_version")),
        seed_topics=how.get("seed_topics", {}),
        prepare=None if prepare is None else PrepareFunction(prepare),
        check=check,
        restarts=how.get("restarts", 0),
    )
    return Options(
        setting,
        promise_of(how.get("expect", Promise.EXACTLY_ONCE.value), "expect"),
        budget_of(str(how["budget"]), "budget") if "budget" in how else budget,
        how.get("jobs", 1),
        how.get("timeout_seconds"),
        how.get("pairs"),
        how.get("seed", 0),
        choice_of(
            _names_of(how.get("include", ()), "include"),
            _names_of(how.get("only", ()), "only"),
            _names_of(how.get("skip", ()), "skip"),
            prefix="",
        ),
        is_first_wanted=how.get("first", False),
    )


def configuration_of(config: Mapping[str, ConfigEntry], nodes: int, as_version: str | None = None) -> Configuration:
    """Return the configuration of the brokers: with several nodes, a partition has replicas on up to three of them.

    Raises ConfigError and UnknownConfigKey.
    """
    configuration = Configuration.of({**default_config(nodes), **config}, as_version, nodes)
    # Only a broker checks the values: one that is not started says what is wrong before the first run.
    broker_with(configuration)
    return configuration


def default_config(nodes: int) -> dict[str, str]:
    """Return the keys that have another default in a hunt than in Broker."""
    return {REPLICATION: str(min(nodes, REPLICAS_MAX))}


def _check_seconds(seconds: object) -> None:
    if not isinstance(seconds, int | float) or not seconds > 0:
        raise BadHuntOption(f"timeout_seconds: {seconds!r}; allowed: a number > 0")


def _names_of(names: Sequence[str], argument: str) -> Sequence[str]:
    """Return the names. Raises BadHuntOption for a text, which would be a name for each of its letters."""
    if isinstance(names, str):
        raise BadHuntOption(f"{argument}: {names!r} is a text; allowed: a list of {_OF_LISTS[argument]}")
    return names

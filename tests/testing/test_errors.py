"""Errors of wrong calls and values in process: each is typed, and says what is allowed and what was probably meant."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from fauxka.faults.actions import Close
from fauxka.faults.files.file_rules import FileRule
from fauxka.faults.rules.fault_rules import FaultRule
from fauxka.testing import (
    AsyncBroker,
    Broker,
    BrokerStateError,
    CallError,
    ConfigError,
    FauxkaError,
    InvalidValueError,
    RuleError,
    UnknownConfigKey,
    WaitTimeoutError,
)

from ..broker.topic_client import TopicClient

NAMES = {"Close": Close, "FaultRule": FaultRule, "FileRule": FileRule}


def perform(call: str, broker: Broker) -> None:
    """Evaluate a call that a type checker would refuse."""
    eval(call, {**NAMES, "broker": broker})


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        with TopicClient(running.bootstrap_servers) as client:
            client.create_topic("orders")
        yield running


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ('broker.reset("al")', "scope", "allowed: all, data, faults or journal; did you mean all?"),
        (
            'broker.verdict("orders", event_id="kye")',
            "event_id",
            "value, key, header:NAME or json:PATH; did you mean key?",
        ),
        ('broker.verdict("orders", event_id=5)', "event_id", "event_id cannot be 5"),
        ('broker.journal.entries(topik="orders")', "topik", "did you mean topic?"),
        ('broker.journal.count(api="Produc")', "api", "did you mean Produce?"),
        ('broker.journal.entries(key="a")', "key", "the journal does not keep records"),
        ("broker.faults.add(5)", "", "cannot add 5; allowed: a FaultRule, a dict"),
        ('broker.faults.add(FileRule(action="fail"))', "", "allowed: a FaultRule, a dict"),
        ('broker.faults.add(point="aplied", action={"kind": "close"})', "point", "did you mean applied?"),
        ('broker.faults.add(point="applied", action={"kind": "clos"})', "action.kind", "mean close?"),
        ('broker.faults.add(FaultRule(point="on", action=Close()))', "point", "point cannot be"),
        ('broker.faults.add(FaultRule(point="applied", action=object()))', "", "invalid rule: "),
        ('broker.files.add(action="disk_ful")', "action", "did you mean disk_full?"),
        ('broker.faults.lost_ack(topik="orders")', "topik", "lost_ack() has no argument topik; allowed: "),
        ('broker.faults.lost_ack(topik="orders")', "topik", "; did you mean topic?"),
        ('broker.faults.lost_ack("colse")', "how", "allowed: close, reset, drop; did you mean close?"),
        ('broker.faults.lost_ack(["close"])', "how", "how cannot be ['close']"),
        ("broker.faults.slow_answers()", "slow_answers", "missing a required argument: 'ms'"),
        ("broker.faults.slow_answers(1, 2)", "slow_answers", "too many positional arguments"),
        ('broker.faults.slow_answers("1 s")', "action.ms", "allowed: integer >= 0"),
        ('broker.faults.hang("aplied")', "point", "did you mean applied?"),
        ('broker.faults.refuse("NOT_LEADER")', "action.error", "did you mean NOT_LEADER_OR_FOLLOWER?"),
        ('broker.faults.lost_ack(api="produce")', "match.api", "did you mean Produce?"),
        ("broker.faults.lost_ack(key=5)", "match.key", "match.key cannot be 5; allowed: text, "),
        ('broker.faults.lost_ack(match={"topic": "a"})', "match", "lost_ack() has no argument match"),
    ],
)
def test_wrong_rule_filter_event_id_or_scope_is_a_rule_error(
    broker: Broker, wrong: str, field: str, message: str
) -> None:
    with pytest.raises(RuleError) as caught:
        perform(wrong, broker)

    assert caught.value.field == field
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "field", "message"),
    [
        ('broker.restore("x")', "id", "id cannot be"),
        ("broker.crash(-1)", "restart_after_ms", "restart_after_ms cannot be -1"),
        ('broker.crash(snapshots="dorp")', "snapshots", "did you mean drop?"),
        ('broker.clock.set_mode("manul")', "mode", "did you mean manual?"),
        ("broker.clock.advance(-1)", "advance_ms", "advance_ms cannot be -1"),
        ('broker.held.release("7")', "ids[0]", "ids[0] cannot be"),
        ('broker.producers.forget("7")', "producer_id", "producer_id cannot be"),
        ("broker.journal.entries(limit=-1)", "limit", "limit cannot be -1"),
        ('broker.topics.create("orders", partitions="3")', "partitions", "partitions cannot be"),
        ('broker.topics.compact("orders", -1)', "partition", "partition cannot be -1"),
        ('broker.topics.seed("orders", [{"valeu": "a"}])', "records[0].valeu", "did you mean value?"),
        ('broker.groups.wait_stable("g", 0)', "members", "members cannot be 0"),
        ('broker.groups.delete_offsets("g", partition=0)', "partition", "partition is given without topic"),
        ('broker.records("orders", from_offset=-1)', "from_offset", "from_offset cannot be -1"),
        ('broker.transactions.list("ongoing")', "state", "did you mean Ongoing?"),
        ("broker.move_coordinator(1)", "", "give either group_id or transactional_id"),
    ],
)
def test_other_wrong_value_is_an_error_with_its_field_and_no_rule_error(
    broker: Broker, wrong: str, field: str, message: str
) -> None:
    with pytest.raises(InvalidValueError) as caught:
        perform(wrong, broker)

    assert not isinstance(caught.value, RuleError)
    assert caught.value.field == field
    assert message in str(caught.value)


def test_wrong_value_changes_nothing(broker: Broker) -> None:
    assert (broker.faults.rules, broker.files.rules, broker.clock.mode, broker.is_running) == ([], [], "real", True)


def test_verdict_on_a_topic_that_does_not_exist_is_an_error_with_a_similar_name(broker: Broker) -> None:
    with pytest.raises(CallError, match=r"^there is no topic 'ordres'; did you mean orders\?$") as caught:
        broker.verdict("ordres")

    assert (caught.value.status, caught.value.detail.field) == (404, "topic")


def test_verdict_on_an_empty_topic_is_zeros(broker: Broker) -> None:
    assert broker.verdict("orders").records.in_log == 0


def test_deleted_topic_keeps_its_verdict() -> None:
    with Broker() as broker, TopicClient(broker.bootstrap_servers) as client:
        client.create_topic("events")
        client.produce(0)

        broker.call(lambda: broker.cluster.controller.remove_topics(list(broker.cluster.image.topics.values())))

        assert broker.verdict("events").batches.appended_once == 1


@pytest.mark.parametrize(
    ("config", "values"),
    [
        ({"num.partitions": 3}, 3),
        ({"num.partitions": "3"}, 3),
        ({"auto.create.topics.enable": False}, False),
        ({"log.cleaner.io.buffer.load.factor": 0.5}, 0.5),
        ({"log.cleaner.io.buffer.load.factor": 1e-7}, 1e-7),
        ({"log.cleanup.policy": ["compact", "delete"]}, ["compact", "delete"]),
    ],
)
def test_config_may_be_a_number_a_boolean_or_a_list(config: dict[str, Any], values: object) -> None:
    broker = Broker(config)

    assert broker.cluster.image.configs.current.value_of(next(iter(config))) == values


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"num.partitions": None}, "Invalid value None (NoneType) for configuration num.partitions: expected a text, "),
        ({"num.partitions": 1.5}, "Invalid value 1.5 for configuration num.partitions: Not a number of type INT"),
        ({"num.partitions": True}, "Invalid value true for configuration num.partitions: Not a number of type INT"),
        ({"num.partitions": [1]}, "Invalid value [1] (list) for configuration num.partitions: expected a text, "),
        ({3: "num.partitions"}, "config: expected Kafka's keys as texts, got the key 3 (int)"),
        ("num.partitions=3", "config: expected a dict of Kafka's keys, got 'num.partitions=3' (str)"),
    ],
)
def test_other_config_is_a_config_error(config: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Broker(config)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("key", "similar"), [("num.partions", "num.partitions"), ("retention.ms", "log.retention.ms")])
def test_unknown_config_key_is_an_error_with_a_similar_key(key: str, similar: str) -> None:
    with pytest.raises(UnknownConfigKey) as caught:
        Broker({key: 3})

    assert str(caught.value) == f"unknown configuration key {key}; did you mean {similar}?"


@pytest.mark.parametrize("version", [2.4, "9", "2"])
def test_wrong_version_is_a_config_error(version: Any) -> None:
    with pytest.raises(ConfigError, match=r"^as_version: "):
        Broker(as_version=version)


@pytest.mark.parametrize(
    "use",
    [
        "broker.bootstrap_servers",
        "broker.get_bootstrap_server()",
        "broker.faults.lost_ack()",
        "broker.journal.count()",
        'broker.verdict("orders")',
        "broker.reset()",
        "broker.restart()",
        "broker.crash()",
        "broker.clock.now_ms",
    ],
)
def test_use_before_the_start_and_after_the_stop_is_a_state_error(use: str) -> None:
    broker = Broker()
    with pytest.raises(
        BrokerStateError, match=r"^the broker is not started: call start\(\), or use it in a `with` block$"
    ):
        perform(use, broker)
    with broker:
        pass

    with pytest.raises(BrokerStateError, match=r"^the broker is stopped and cannot be used again: create a new one$"):
        perform(use, broker)


def test_broker_cannot_be_started_twice() -> None:
    with Broker() as broker, pytest.raises(BrokerStateError, match=r"^the broker is already started$"):
        broker.start()
    with pytest.raises(BrokerStateError, match=r"^the broker is stopped"):
        broker.start()


def test_stop_may_be_repeated() -> None:
    broker = Broker().start()

    broker.stop()
    broker.stop()

    assert not broker.is_running


def test_restart_needs_a_crashed_broker_and_a_crash_a_running_one() -> None:
    with Broker() as broker:
        with pytest.raises(CallError, match=r"^the node is running$"):
            broker.restart()
        broker.crash()
        with pytest.raises(CallError, match=r"^the node is already down$"):
            broker.crash()


@pytest.mark.asyncio
async def test_async_broker_raises_the_same_errors() -> None:
    broker = AsyncBroker()
    with pytest.raises(BrokerStateError):
        await broker.faults.lost_ack()
    with pytest.raises(BrokerStateError):
        await broker.topics.create("orders")
    async with broker:
        with pytest.raises(BrokerStateError):
            await broker.start()
        with pytest.raises(CallError, match=r"^the node is running$"):
            await broker.restart()
        with pytest.raises(RuleError, match=r"did you mean all"):
            await broker.reset(cast("Any", "al"))
        with pytest.raises(WaitTimeoutError, match=r"^0 of 1 hits"):
            await (await broker.faults.lost_ack()).await_hits(timeout_ms=1)
    with pytest.raises(BrokerStateError):
        await broker.reset()


def test_rule_of_a_with_block_may_outlive_its_broker() -> None:
    broker = Broker().start()
    with broker.faults.lost_ack() as rule:
        broker.stop()

    assert rule.hits == 0


def test_timeout_of_hits_is_a_timeout_error_with_the_hits_and_near_misses(broker: Broker) -> None:
    with broker.faults.lost_ack(topic="payments") as rule, TopicClient(broker.bootstrap_servers) as client:
        client.list_offset(-1)

        with pytest.raises(TimeoutError) as caught:
            rule.await_hits(2, timeout_ms=1)

    assert isinstance(caught.value, WaitTimeoutError)
    assert (caught.value.hits, [miss.field for miss in caught.value.near_misses]) == (0, ["api"])
    assert str(caught.value).splitlines()[-1] == "    1 request first differed at api: ListOffsets, not Produce"


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (RuleError, ValueError),
        (ConfigError, ValueError),
        (BrokerStateError, RuntimeError),
        (WaitTimeoutError, TimeoutError),
        (CallError, Exception),
    ],
)
def test_every_error_has_the_common_base_and_that_of_python(error: type[Exception], builtin: type[Exception]) -> None:
    assert issubclass(error, FauxkaError)
    assert issubclass(error, builtin)


@pytest.mark.parametrize("wrong", [{"count": "2"}, {"timeout_ms": -1}])
def test_wait_for_a_wrong_number_of_hits_is_an_error_with_its_name(broker: Broker, wrong: dict[str, Any]) -> None:
    (name,) = wrong

    with pytest.raises(RuleError, match=f"{name} cannot be"):
        broker.faults.lost_ack().await_hits(**wrong)

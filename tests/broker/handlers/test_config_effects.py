"""Altered configs take effect from the next request on."""

import pytest

from fauxka.protocol.error_codes import ErrorCode
from fauxka.storage.append_refused import AppendRefused

from .admin_scene import BROKER, DEFAULT_BROKER, DELETE, THIS_BROKER, TOPIC, AdminScene


def test_topics_own_limit_refuses_the_next_larger_batch() -> None:
    scene = AdminScene()
    topic = scene.topic("limited")
    scene.append(topic, b"x" * 500)

    scene.change(TOPIC, "limited", "max.message.bytes", "200")

    with pytest.raises(AppendRefused) as refused:
        scene.append(topic, b"x" * 500)
    assert refused.value.code == ErrorCode.MESSAGE_TOO_LARGE


def test_default_limit_of_all_brokers_applies_to_a_topic_without_its_own() -> None:
    scene = AdminScene()
    topic = scene.topic("plain")

    scene.change(BROKER, DEFAULT_BROKER, "message.max.bytes", "200")

    with pytest.raises(AppendRefused):
        scene.append(topic, b"x" * 500)


def test_topics_own_limit_takes_precedence_over_the_default_of_all_brokers() -> None:
    scene = AdminScene()
    topic = scene.topic("own", max_message_bytes="1000")

    scene.change(BROKER, DEFAULT_BROKER, "message.max.bytes", "200")

    scene.append(topic, b"x" * 500)
    assert scene.partition_of(topic, 0).log.log_end_offset == 1


def test_without_a_limit_of_this_broker_the_default_of_all_brokers_applies() -> None:
    scene = AdminScene()
    topic = scene.topic("plain")
    scene.change(BROKER, DEFAULT_BROKER, "message.max.bytes", "3000")
    scene.change(BROKER, THIS_BROKER, "message.max.bytes", "200")

    scene.change(BROKER, THIS_BROKER, "message.max.bytes", None, operation=DELETE)

    assert scene.partition_of(topic, 0).log.config.max_message_bytes == 3000


def test_shorter_retention_drops_old_segments() -> None:
    scene = AdminScene()
    topic = scene.topic("kept", segment_ms="1000")
    scene.append(topic)
    scene.clock.advance(5000)
    scene.append(topic)

    scene.change(TOPIC, "kept", "retention.ms", "2000")
    scene.cluster.node.replicas.enforce_retention()

    assert scene.partition_of(topic, 0).log.log_start_offset == 1


def test_broker_configs_apply_from_the_next_request_on() -> None:
    scene = AdminScene()

    scene.change(BROKER, DEFAULT_BROKER, "message.max.bytes", "4000")

    assert scene.cluster.node.config.value_of("message.max.bytes") == 4000


def test_validate_only_changes_nothing() -> None:
    scene = AdminScene()
    topic = scene.topic("plain")

    error = scene.change(TOPIC, "plain", "max.message.bytes", "200", validate_only=True)
    broker_error = scene.change(BROKER, DEFAULT_BROKER, "message.max.bytes", "200", validate_only=True)

    assert (error, broker_error) == (ErrorCode.NONE, ErrorCode.NONE)
    assert scene.partition_of(topic, 0).log.config.max_message_bytes == 1_048_588


def test_refused_change_leaves_the_old_values() -> None:
    scene = AdminScene()
    topic = scene.topic("plain", retention_ms="5000")

    error = scene.change(TOPIC, "plain", "retention.ms", "soon")

    assert error == ErrorCode.INVALID_CONFIG
    assert topic.configs == {"retention.ms": "5000"}


def test_added_partition_has_the_topics_configs() -> None:
    scene = AdminScene()
    topic = scene.topic("growing", max_message_bytes="700")
    scene.change(TOPIC, "growing", "max.message.bytes", "800")

    scene.cluster.controller.create_partitions(topic, 2)

    assert scene.partition_of(topic, 1).log.config.max_message_bytes == 800


def test_password_is_not_returned() -> None:
    scene = AdminScene({"ssl.keystore.password": "secret"})

    assert scene.described(BROKER, THIS_BROKER, "ssl.keystore.password") is None


def test_unknown_key_is_kept_and_has_no_effect() -> None:
    scene = AdminScene()

    error = scene.change(BROKER, THIS_BROKER, "no.such.key", "1")

    assert error == ErrorCode.NONE
    assert scene.cluster.node.config.entries.get("no.such.key") is None

"""Configs from a file, the environment and the command line."""

import pytest

from fauxka.broker.config.config_sources import gather_config, key_of_variable
from fauxka.broker.config.config_types import ConfigError, UnknownConfigKey


def test_command_line_takes_precedence_over_environment_and_environment_over_file() -> None:
    gathered = gather_config(
        {"num.partitions": "1", "message.max.bytes": "1", "group.max.size": "1"},
        {"KAFKA_NUM_PARTITIONS": "2", "KAFKA_MESSAGE_MAX_BYTES": "2"},
        ["num.partitions=3"],
    )

    config = gathered.config
    assert (config.num_partitions, config.value_of("message.max.bytes"), config.group_max_size) == (3, 2, 1)


@pytest.mark.parametrize(
    ("variable", "key"),
    [
        ("KAFKA_NUM_PARTITIONS", "num.partitions"),
        ("KAFKA_LOG4J__ROOT", "log4j_root"),
        ("KAFKA_SOME___KEY__OF_MINE", "some-key_of.mine"),
        ("KAFKA_A____B", "a____b"),
    ],
)
def test_variable_names_a_key_as_in_the_kafka_image(variable: str, key: str) -> None:
    assert key_of_variable(variable) == key


@pytest.mark.parametrize("source", ["file", "command line"])
def test_unknown_key_of_file_and_command_line_is_refused_with_a_suggestion(source: str) -> None:
    entries = {"num.partition": "1"} if source == "file" else {}
    assignments = ["num.partition=1"] if source == "command line" else []

    with pytest.raises(
        UnknownConfigKey, match=r"^unknown configuration key num\.partition; did you mean num\.partitions\?$"
    ):
        gather_config(entries, {}, assignments)


def test_topic_key_is_refused_with_the_corresponding_broker_key() -> None:
    with pytest.raises(UnknownConfigKey, match=r"did you mean log\.retention\.ms\?"):
        gather_config({}, {}, ["retention.ms=1"])


def test_unknown_key_of_the_environment_is_a_warning_with_the_similar_variable() -> None:
    gathered = gather_config({}, {"KAFKA_NUM_PARTITION": "3", "KAFKA_RETENTION_MS": "1", "PATH": "/bin"}, [])

    assert gathered.notes == []
    assert gathered.warnings == [
        "KAFKA_NUM_PARTITION in the environment has no effect: Kafka has no key num.partition; "
        "did you mean KAFKA_NUM_PARTITIONS?",
        "KAFKA_RETENTION_MS in the environment has no effect: Kafka has no key retention.ms; "
        "did you mean KAFKA_LOG_RETENTION_MS?",
    ]


def test_variable_that_kubernetes_sets_for_a_service_is_a_note() -> None:
    gathered = gather_config({}, {"KAFKA_PORT_9092_TCP": "tcp://10.0.0.1:9092", "PATH": "/bin"}, [])

    assert gathered.notes == ["ignored KAFKA_PORT_9092_TCP of the environment: Kafka has no key port.9092.tcp"]
    assert gathered.warnings == []


def test_variables_for_the_scripts_of_the_image_are_ignored_without_a_note() -> None:
    gathered = gather_config({}, {"KAFKA_OPTS": "-Dx=y", "KAFKA_HEAP_OPTS": "-Xmx1g"}, [])

    assert (gathered.notes, gathered.warnings) == ([], [])


def test_keys_without_effect_are_accepted_with_one_note() -> None:
    environment = {
        "KAFKA_PROCESS_ROLES": "broker,controller",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
    }

    gathered = gather_config({}, environment, [])

    expected = "controller.quorum.voters, process.roles"
    assert gathered.notes == [f"accepted, and without effect here: {expected}"]


def test_keys_of_one_listener_are_gathered_from_all_sources() -> None:
    gathered = gather_config(
        {"listener.name.external.ssl.keystore.location": "x"},
        {"KAFKA_LISTENER_NAME_EXTERNAL_SSL_KEYSTORE_TYPE": "PEM"},
        ["listener.name.external.ssl.client.auth=required"],
    )

    assert gathered.of_listeners == {
        "listener.name.external.ssl.keystore.location": "x",
        "listener.name.external.ssl.keystore.type": "PEM",
        "listener.name.external.ssl.client.auth": "required",
    }
    assert (gathered.notes, gathered.warnings) == ([], [])


@pytest.mark.parametrize("end", ["max.connections", "ssl.cipher.suites", "scram-sha-256.sasl.jaas.config"])
def test_key_of_one_listener_without_effect_is_accepted_with_a_note(end: str) -> None:
    name = f"listener.name.external.{end}"

    assert gather_config({name: "x"}, {}, []).notes == [f"accepted, and without effect here: {name}"]


def test_key_of_one_listener_without_effect_in_the_environment_is_accepted_with_a_note() -> None:
    gathered = gather_config({}, {"KAFKA_LISTENER_NAME_EXTERNAL_MAX_CONNECTIONS": "x"}, [])

    assert gathered.notes == ["accepted, and without effect here: listener.name.external.max.connections"]
    assert gathered.warnings == []


def test_wrong_value_of_the_environment_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value many for configuration num\.partitions"):
        gather_config({}, {"KAFKA_NUM_PARTITIONS": "many"}, [])


@pytest.mark.parametrize("text", ["num.partitions", "=3", ""])
def test_assignment_without_key_or_sign_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="expected key=value"):
        gather_config({}, {}, [text])


def test_value_may_hold_an_equals_sign_and_be_empty() -> None:
    config = gather_config({}, {}, ["broker.rack=a=b", "log.cleanup.policy="]).config

    assert config.broker_rack == "a=b"
    assert config.value_of("log.cleanup.policy") == []

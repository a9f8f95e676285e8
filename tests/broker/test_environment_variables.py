"""Environment variables that set nothing."""

import pytest

from fauxka.broker.config.config_keys import BROKER_KEYS
from fauxka.broker.config.config_sources import key_of_variable
from fauxka.broker.config.environment_variables import is_service_link, own_variable_warnings, variable_of

OPTIONS = {"--host": "FAUXKA_HOST", "--port": None, "--data-dir": "FAUXKA_DATA_DIR", "--fsync": None}
NO_EFFECT = "in the environment has no effect: no option has this variable"


def test_variable_of_every_key_names_the_key() -> None:
    assert [key_of_variable(variable_of(key)) for key in BROKER_KEYS] == list(BROKER_KEYS)


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("FAUXKA_DATADIR", "FAUXKA_DATA_DIR"),
        ("FAUXKA_PORT", "--port"),
        ("FAUXKA_FSYNC", "--fsync"),
        ("FAUXKA_NUM_PARTITIONS", "KAFKA_NUM_PARTITIONS"),
        ("FAUXKA_BUSY_POLL_US", "KAFKA_FAUXKA_BUSY_POLL_US"),
    ],
)
def test_unknown_variable_is_a_warning_with_the_probable_meaning(variable: str, meant: str) -> None:
    assert own_variable_warnings({variable: "1"}, OPTIONS) == [f"{variable} {NO_EFFECT}; did you mean {meant}?"]


def test_variable_that_is_like_no_other_is_a_warning() -> None:
    assert own_variable_warnings({"FAUXKA_QQQ": "1"}, OPTIONS) == [f"FAUXKA_QQQ {NO_EFFECT}"]


@pytest.mark.parametrize("variable", ["FAUXKA_HOST", "FAUXKA_DATA_DIR", "FAUXKA_COMPILE", "PATH", "KAFKA_X"])
def test_known_variable_and_that_of_another_program_is_no_warning(variable: str) -> None:
    assert own_variable_warnings({variable: "1"}, OPTIONS) == []


@pytest.mark.parametrize(
    ("variable", "value", "is_link"),
    [
        ("KAFKA_SERVICE_HOST", "10.0.0.1", True),
        ("KAFKA_BROKER_SERVICE_PORT", "9092", True),
        ("FAUXKA_SERVICE_PORT_ADMIN", "9099", True),
        ("FAUXKA_PORT", "tcp://10.0.0.1:9092", True),
        ("FAUXKA_PORT", "9092", False),
        ("KAFKA_PORT_9092_TCP", "tcp://10.0.0.1:9092", True),
        ("KAFKA_PORT_9092_TCP_ADDR", "10.0.0.1", True),
        ("KAFKA_NUM_PARTITION", "3", False),
    ],
)
def test_variables_of_kubernetes_services_are_found(variable: str, value: str, is_link: bool) -> None:
    assert is_service_link(variable, value) == is_link

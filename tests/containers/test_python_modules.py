"""The modules of testcontainers-python: KafkaContainer as it is, and our own container."""

import pytest
from testcontainers.community.kafka import KafkaContainer
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

from fauxka.testcontainers import NETWORK_PORT, FauxkaContainer

from .engine import IMAGE, Engine
from .test_docker_run import round_trip

pytestmark = [pytest.mark.containers, pytest.mark.timeout(1200)]


def test_kafka_container_with_kraft(of_engine: Engine) -> None:
    with KafkaContainer().with_kraft() as kafka:
        round_trip(kafka.get_bootstrap_server())


@pytest.mark.parametrize("tag", ["7.0.1", "8.3.0"])
def test_kafka_container_of_the_image_under_its_own_name(of_engine: Engine, tag: str) -> None:
    of_engine.step("tag", IMAGE, f"localhost/fauxka:{tag}")

    with KafkaContainer(f"localhost/fauxka:{tag}").with_kraft() as kafka:
        round_trip(kafka.get_bootstrap_server())


@pytest.mark.parametrize("tag", ["0.1.0", "latest"])
def test_tags_that_the_module_takes_for_an_old_version_or_for_none(of_engine: Engine, tag: str) -> None:
    """What docs/containers.md says about tags: the module refuses these before it starts anything."""
    with pytest.raises(ValueError, match=r"0\.1\.0 is not supported in Kraft mode|Invalid version: 'latest'"):
        KafkaContainer(f"localhost/fauxka:{tag}").with_kraft()


def test_containers_of_a_network_reach_the_broker_by_its_alias(of_engine: Engine) -> None:
    with (
        Network() as network,
        FauxkaContainer(IMAGE).with_network(network).with_network_aliases("broker") as fauxka,
        DockerContainer(IMAGE).with_network(network).with_command(["sh", "-c", "sleep 600"]) as other,
    ):
        address = f"fauxka health --host broker --port {NETWORK_PORT}"
        exit_code, output = other.exec(["sh", "-c", address])

        assert exit_code == 0, output
        assert f"NETWORK://broker:{NETWORK_PORT}" in fauxka.get_logs()[0].decode()
        round_trip(fauxka.get_bootstrap_server())


def test_containers_start_side_by_side(of_engine: Engine) -> None:
    with FauxkaContainer(IMAGE) as first, FauxkaContainer(IMAGE).with_config("num.partitions", "5") as second:
        round_trip(first.get_bootstrap_server())
        round_trip(second.get_bootstrap_server())

        partitions = second.broker.call("GET", "/v1/topics/orders")["partitions"]
        assert len(partitions) == 5
        assert first.get_bootstrap_server() != second.get_bootstrap_server()


def test_wrong_config_is_told_with_the_log_of_the_container(of_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fauxka.testcontainers.START_SECONDS_MAX", 1.0)
    container = FauxkaContainer(IMAGE).with_config("num.partitions", "many")

    with pytest.raises(TimeoutError, match=r"num\.partitions"):
        container.start()

    container.stop()


def test_broker_needs_a_started_container(of_engine: Engine) -> None:
    with pytest.raises(RuntimeError, match="has not started"):
        _ = FauxkaContainer(IMAGE).broker


def test_config_key_is_set_by_its_variable(of_engine: Engine) -> None:
    container = FauxkaContainer(IMAGE).with_config("one_two.three-four", "5")

    assert container.env["KAFKA_ONE__TWO_THREE___FOUR"] == "5"

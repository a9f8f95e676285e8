"""The slice of this group: `docker run`, plain and secured, and KafkaContainer of testcontainers-python as it is.

They are in one file, so that they have one engine and one image.
"""

from pathlib import Path

import pytest
from confluent_kafka import KafkaError
from testcontainers.community.kafka import KafkaContainer

from ..image.built_image import wait_until
from .engine import Engine
from .test_docker_run import KAFKA_PORT, free_port, is_ready, round_trip
from .test_secured import LOGIN, errors_of, is_healthy

pytestmark = [pytest.mark.containers, pytest.mark.slice, pytest.mark.timeout(1200)]


def test_published_port_serves_clients_and_a_stop_ends_it_with_exit_code_0(engine: Engine) -> None:
    address = f"127.0.0.1:{free_port()}"
    options = (
        f"--publish={address}:{KAFKA_PORT}",
        f"--env=KAFKA_LISTENERS=PLAINTEXT://0.0.0.0:{KAFKA_PORT}",
        f"--env=KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://{address}",
    )
    with engine.running(*options) as broker:
        wait_until(lambda: is_ready(engine, broker))
        round_trip(address)

        engine.step("stop", "--time", "20", broker)

        assert engine.inspect(broker)["State"]["ExitCode"] == 0
        assert "received SIGTERM: stopping" in engine.log(broker)


def test_short_variables_are_a_secured_broker_that_is_healthy(engine: Engine, tmp_path: Path) -> None:
    port = free_port()
    options = (
        f"--publish=127.0.0.1:{port}:9092",
        f"--env=FAUXKA_LISTENER=SASL_SSL://0.0.0.0:9092,localhost:{port}",
        "--env=FAUXKA_USER=alice:secret bob:hidden",
    )
    with engine.running(*options) as broker:
        wait_until(lambda: is_ready(engine, broker))
        engine.step("cp", f"{broker}:/tmp/certificates/ca.pem", str(tmp_path / "ca.pem"))
        trusted = {"security.protocol": "SASL_SSL", "ssl.ca.location": str(tmp_path / "ca.pem")}
        address = f"localhost:{port}"

        round_trip(address, {**trusted, **LOGIN})

        assert is_healthy(engine, broker)
        assert KafkaError._AUTHENTICATION in errors_of(address, {**trusted, **LOGIN, "sasl.password": "wrong"})
        assert "secret" not in engine.log(broker)


def test_kafka_container_as_it_is(of_engine: Engine) -> None:
    with KafkaContainer() as kafka:
        round_trip(kafka.get_bootstrap_server())

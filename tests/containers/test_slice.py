"""The slice of this group: `docker run` with a published port, and KafkaContainer of testcontainers-python as it is.

Both are in one file, so that they have one engine and one image.
"""

import pytest
from testcontainers.community.kafka import KafkaContainer

from ..image.built_image import wait_until
from .engine import Engine
from .test_docker_run import KAFKA_PORT, free_port, is_ready, round_trip

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


def test_kafka_container_as_it_is(of_engine: Engine) -> None:
    with KafkaContainer() as kafka:
        round_trip(kafka.get_bootstrap_server())

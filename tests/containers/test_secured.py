"""Secured listeners of the image: its own short variables, those of Kafka's images, and FauxkaContainer."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer

from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.security.tls.throw_away_ca import ensure_files
from fauxka.testcontainers import FauxkaContainer

from ..image.built_image import wait_until
from .engine import IMAGE, Engine
from .test_docker_run import free_port, is_ready, round_trip

pytestmark = [pytest.mark.containers, pytest.mark.timeout(1200)]

USERS = {"alice": "secret"}
LOGIN = {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "alice", "sasl.password": "secret"}
JAAS = """
// As in the images' own examples.
KafkaServer {
    org.apache.kafka.common.security.plain.PlainLoginModule required
    username="admin"
    password="admin-secret"
    user_admin="admin-secret"
    user_alice="secret";
};
"""


def errors_of(bootstrap: str, security: Mapping[str, str]) -> set[int]:
    """Return the codes of the errors that a producer of one record reports until it gives the record up."""
    errors: list[KafkaError] = []
    config = {"bootstrap.servers": bootstrap, **security}
    producer = Producer({**config, "error_cb": errors.append, "message.timeout.ms": 2000})
    producer.produce("never", b"never")
    producer.flush(30)
    return {error.code() for error in errors}


def is_healthy(engine: Engine, broker: str) -> bool:
    return engine.podman("healthcheck", "run", broker).exit_code == 0


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """A folder as Kafka's images mount it: a PKCS12 store with its password in a file, and a JAAS config."""
    folder = tmp_path / "secrets"
    ensure_files(folder, ["localhost", "127.0.0.1"])
    chain = (folder / "server.pem", "-out", folder / "kafka.keystore.jks", "-passout", "pass:keys", "-name", "broker")
    subprocess.run(["openssl", "pkcs12", "-export", "-in", *map(str, chain)], check=True, capture_output=True)
    (folder / "keystore_creds").write_text("keys\n")
    (folder / "broker_jaas.conf").write_text(JAAS)
    for file in folder.iterdir():
        file.chmod(0o644)
    return folder


def test_stores_and_credentials_of_the_secrets_folder_and_a_jaas_file(engine: Engine, secrets: Path) -> None:
    """The variables of the examples of apache/kafka and cp-kafka."""
    port, plain = free_port(), free_port()
    options = (
        f"--publish=127.0.0.1:{port}:{port}",
        f"--publish=127.0.0.1:{plain}:{plain}",
        f"--volume={secrets}:/etc/kafka/secrets:ro",
        f"--env=KAFKA_LISTENERS=SASL_SSL://:{port},SASL_PLAINTEXT_HOST://:{plain},CONTROLLER://:29093",
        f"--env=KAFKA_ADVERTISED_LISTENERS=SASL_SSL://localhost:{port},SASL_PLAINTEXT_HOST://localhost:{plain}",
        "--env=KAFKA_LISTENER_SECURITY_PROTOCOL_MAP="
        "CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL,SASL_PLAINTEXT_HOST:SASL_PLAINTEXT",
        "--env=KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER",
        "--env=KAFKA_SASL_ENABLED_MECHANISMS=PLAIN",
        "--env=KAFKA_SASL_MECHANISM_INTER_BROKER_PROTOCOL=PLAIN",
        "--env=KAFKA_SSL_KEYSTORE_FILENAME=kafka.keystore.jks",
        "--env=KAFKA_SSL_KEYSTORE_CREDENTIALS=keystore_creds",
        "--env=KAFKA_SSL_KEY_CREDENTIALS=keystore_creds",
        "--env=KAFKA_OPTS=-Djava.security.auth.login.config=/etc/kafka/secrets/broker_jaas.conf",
    )
    login = {**LOGIN, "sasl.mechanism": "PLAIN"}
    with engine.running(*options) as broker:
        wait_until(lambda: is_ready(engine, broker))

        trusted = {"security.protocol": "SASL_SSL", "ssl.ca.location": str(secrets / "ca.pem")}
        round_trip(f"localhost:{port}", {**trusted, **login})
        round_trip(f"localhost:{plain}", {"security.protocol": "SASL_PLAINTEXT", **login})
        # As a health check of a compose file.
        command = ("kafka-broker-api-versions", "--command-config", "/etc/kafka/secrets/client.properties")
        engine.step("exec", broker, *command, "--bootstrap-server", f"localhost:{port}")

        assert is_healthy(engine, broker)
        assert "environment has no effect" not in engine.log(broker)


def test_users_of_a_listener_come_from_its_own_variable(engine: Engine) -> None:
    port = free_port()
    options = (
        f"--publish=127.0.0.1:{port}:{port}",
        f"--env=KAFKA_LISTENERS=OUT_SIDE://:{port}",
        f"--env=KAFKA_ADVERTISED_LISTENERS=OUT_SIDE://localhost:{port}",
        "--env=KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=OUT_SIDE:SASL_PLAINTEXT",
        "--env=KAFKA_LISTENER_NAME_OUT__SIDE_SASL_ENABLED_MECHANISMS=SCRAM-SHA-512",
        "--env=KAFKA_LISTENER_NAME_OUT__SIDE_PLAIN_SASL_JAAS_CONFIG="
        'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";',
    )
    security = {"security.protocol": "SASL_PLAINTEXT", **LOGIN}
    with engine.running(*options) as broker:
        wait_until(lambda: is_ready(engine, broker))

        round_trip(f"localhost:{port}", security)

        assert is_healthy(engine, broker)
        assert errors_of(f"localhost:{port}", {**security, "sasl.mechanism": "PLAIN"})


def test_listener_that_demands_certificates_is_healthy(engine: Engine) -> None:
    with engine.running("--env=FAUXKA_LISTENER=SSL", "--env=KAFKA_SSL_CLIENT_AUTH=required") as broker:
        wait_until(lambda: is_ready(engine, broker))

        assert is_healthy(engine, broker)
        assert "PEER_DID_NOT_RETURN_A_CERTIFICATE" not in engine.log(broker)


def test_missing_file_with_a_secret_is_one_line_and_exit_code_2(engine: Engine) -> None:
    options = ("--env=FAUXKA_LISTENER=SSL", "--env=KAFKA_SSL_KEYSTORE_CREDENTIALS=keystore_creds")

    ran = engine.podman("run", "--rm", *options, IMAGE)

    assert (ran.exit_code, ran.output) == (2, "")
    expected = (
        "KAFKA_SSL_KEYSTORE_CREDENTIALS: cannot read /etc/kafka/secrets/keystore_creds: No such file or directory"
    )
    assert expected in ran.log.splitlines()[-1]


@pytest.mark.parametrize("protocol", ["SSL", "SASL_PLAINTEXT", "SASL_SSL"])
def test_container_has_what_a_client_needs(of_engine: Engine, protocol: str) -> None:
    users = USERS if protocol.startswith("SASL") else None
    with FauxkaContainer(IMAGE, security_protocol=protocol, users=users) as fauxka:
        round_trip(fauxka.get_bootstrap_server(), fauxka.client_config(mechanism="SCRAM-SHA-512"))


def test_container_with_several_nodes_and_client_certificates(of_engine: Engine) -> None:
    container = FauxkaContainer(IMAGE, nodes=3, security_protocol="SSL").with_config("ssl.client.auth", "required")
    with container as fauxka:
        assert fauxka.tls_dir is not None
        certificate = str(fauxka.tls_dir / "client.pem")
        own = {"ssl.certificate.location": certificate, "ssl.key.location": certificate}

        round_trip(fauxka.get_bootstrap_server(), {**fauxka.client_config(), **own})
    assert fauxka.tls_dir.exists()


@pytest.mark.parametrize("users", [{"alice": "two words"}, {"al:ice": "secret"}])
def test_user_that_a_variable_cannot_hold_is_refused(of_engine: Engine, users: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"users: .*, at the user 'al:?ice'"):
        FauxkaContainer(IMAGE, security_protocol="SASL_SSL", users=users)

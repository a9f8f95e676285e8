"""--command-config of export and kafka-topics, with a broker that demands TLS and a login."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from fauxka.testing import Broker

from ..pipeline.logs_on_disk import read
from ..serving_process import run
from .client_properties import properties_text, sasl_properties, tls_properties

pytestmark = pytest.mark.processes

VALUES = [f"value {number}".encode() for number in range(20)]


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(security_protocol="SASL_SSL", users={"alice": "secret"}) as broker:
        broker.topics.create("t")
        producer = Producer(broker.client_config("alice", mechanism="PLAIN"))
        for value in VALUES:
            producer.produce("t", value)
        assert producer.flush(30) == 0
        yield broker


def config_in(folder: Path, broker: Broker, password: str = "secret") -> str:
    """Write a file of properties, and return its path."""
    assert broker.tls_dir is not None, "it has throw-away certificates"
    login = sasl_properties("SASL_SSL", "SCRAM-SHA-512", password=password)
    (folder / "client.properties").write_text(properties_text({**tls_properties(broker.tls_dir), **login}))
    return str(folder / "client.properties")


def test_export_reads_a_secured_broker(broker: Broker, tmp_path: Path) -> None:
    place = ("--from", broker.bootstrap_servers, "--command-config", config_in(tmp_path, broker))

    ended = run("export", str(tmp_path / "out"), *place)

    assert ended.exit_code == 0, ended.log
    assert [row["value"] for row in read(path=tmp_path / "out", topics="t")] == VALUES


def test_export_with_a_wrong_password_is_one_line_and_leaves_no_folder(broker: Broker, tmp_path: Path) -> None:
    place = ("--from", broker.bootstrap_servers, "--command-config", config_in(tmp_path, broker, "wr0ng"))

    ended = run("export", str(tmp_path / "out"), *place)

    assert ended.exit_code == 2
    assert ended.log.startswith(f"fauxka: broker {broker.bootstrap_servers}: SASL SCRAM-SHA-512: Authentication failed")
    assert len(ended.log.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_topics_of_a_secured_broker_are_listed(broker: Broker, tmp_path: Path) -> None:
    place = ("--bootstrap-server", broker.bootstrap_servers, "--command-config", config_in(tmp_path, broker))

    ended = run("kafka-topics", "--list", *place)

    assert (ended.exit_code, ended.output) == (0, "t\n")


def test_topics_with_a_wrong_password_fail_at_once(broker: Broker, tmp_path: Path) -> None:
    place = ("--bootstrap-server", broker.bootstrap_servers, "--command-config", config_in(tmp_path, broker, "wr0ng"))

    ended = run("kafka-topics", "--list", *place)

    assert ended.exit_code == 1
    assert ended.log.startswith("Error while executing topic command : broker ")
    assert "Authentication failed" in ended.log


@pytest.mark.parametrize(
    "command", [("export", "out", "--from", "h:1"), ("kafka-topics", "--list", "--bootstrap-server", "h:1")]
)
def test_missing_file_is_one_line(command: tuple[str, ...], tmp_path: Path) -> None:
    ended = run(*command, "--command-config", str(tmp_path / "none"))

    assert ended.exit_code == 2
    assert f"cannot read {tmp_path / 'none'}: No such file or directory" in ended.log
    assert len(ended.log.splitlines()) == 1

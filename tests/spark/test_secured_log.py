"""The commands and the data source with a broker that demands TLS and a login; Spark shows no password."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from fauxka.pipeline.read.log_source import FauxkaLog
from fauxka.testing import Broker

from ..client.client_properties import certificate_properties, properties_text, sasl_properties
from ..pipeline.logs_on_disk import read
from ..serving_process import Ended, run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

PASSWORD = "swordf1sh"
RUN_SECONDS_MAX = 400
START_SECONDS_MAX = 60
QUICK = ("--master", "local[2]", "-c", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1")
EVENTS = 40
PRIVATE_KEY = "PRIVATE KEY"


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(security_protocol="SASL_SSL", users={"alice": PASSWORD}) as broker:
        for topic in ("events", "once", "ledger"):
            broker.topics.create(topic)
        producer = Producer(broker.client_config("alice", mechanism="SCRAM-SHA-512"))
        for number in range(2 * EVENTS):
            key = str(number % EVENTS)
            producer.produce("events", key=key, value=f"value {number}")
            producer.produce("ledger", value=f'{{"event_id": "{key}"}}')
        assert producer.flush(60) == 0
        yield broker


@pytest.fixture(scope="module")
def config(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("config") / "client.properties"
    file.write_text(properties_text(properties_of(broker)))
    return file


def properties_of(broker: Broker, password: str = PASSWORD) -> dict[str, str]:
    login = sasl_properties("SASL_SSL", "SCRAM-SHA-512", password=password)
    return {**certificate_properties(folder_of(broker)), **login}


def folder_of(broker: Broker) -> Path:
    assert broker.tls_dir is not None, "it has throw-away certificates"
    return broker.tls_dir


def run_logging_events(folder: Path, *arguments: str) -> tuple[Ended, str]:
    """Run a command with Spark's event log, and return how it ended and the log."""
    events = ("-c", "spark.eventLog.enabled=true", "-c", f"spark.eventLog.dir={folder}")
    settings = (*events, "-c", "spark.eventLog.compress=false")
    ended = run(*arguments, *QUICK, *settings, seconds_max=RUN_SECONDS_MAX)
    return ended, "".join(file.read_text(errors="replace") for file in folder.rglob("*") if file.is_file())


def test_audit_reads_the_log_and_the_ledger_of_a_secured_broker(broker: Broker, config: Path, tmp_path: Path) -> None:
    place = ("--bootstrap", broker.bootstrap_servers, "--topics", "events", "--command-config", str(config))
    sent = ("--event-id", "key", "--sent", f"topic://{broker.bootstrap_servers}/ledger")

    ended, event_log = run_logging_events(tmp_path, "audit", *place, *sent)

    assert ended.exit_code == 1, ended.log
    assert f"{EVENTS} duplicate" in ended.output
    assert "SparkListenerSQLExecutionStart" in event_log
    assert PASSWORD not in ended.output + ended.log + event_log
    assert PRIVATE_KEY not in ended.output + ended.log + event_log


def test_dedup_writes_to_a_topic_of_a_secured_broker(broker: Broker, config: Path, tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    place = ("--from", "events", "--bootstrap", broker.bootstrap_servers, "--command-config", str(config))
    target = ("--to", "once", "--available-now", "--checkpoint", str(tmp_path / "checkpoint"))

    ended, event_log = run_logging_events(tmp_path / "log", "dedup", *place, *target, "--event-id", "key")

    assert ended.exit_code == 0, ended.log
    options = {f"kafka.{name}": value for name, value in properties_of(broker).items()}
    kept = read(bootstrap=broker.bootstrap_servers, topics="once", **options)
    assert len({row["key"] for row in kept}) == len(kept) == EVENTS
    stored = "".join(
        file.read_text(errors="replace") for file in (tmp_path / "checkpoint").rglob("*") if file.is_file()
    )
    shown = ended.output + ended.log + event_log + stored
    assert "kafka.security.protocol" in shown
    assert PASSWORD not in shown
    assert PRIVATE_KEY not in shown


@pytest.mark.parametrize("command", [("audit",), ("dedup", "--from", "events", "--to", "./once", "--event-id", "key")])
def test_wrong_password_is_one_line_before_spark_starts(
    broker: Broker, tmp_path: Path, command: tuple[str, ...]
) -> None:
    file = tmp_path / "wrong.properties"
    file.write_text(properties_text(properties_of(broker, "wr0ng")))
    place = ("--bootstrap", broker.bootstrap_servers, "--command-config", str(file))

    ended = run(*command, *place, seconds_max=START_SECONDS_MAX)

    reason = "due to invalid credentials with SASL mechanism SCRAM-SHA-512"
    expected = (
        f"broker {broker.bootstrap_servers}: SASL SCRAM-SHA-512: Authentication failed during authentication {reason}"
    )
    assert (ended.exit_code, ended.output, ended.log) == (2, "", f"fauxka: {expected}\n")


def test_token_command_for_the_target_of_dedup_is_refused_before_spark_starts(broker: Broker, tmp_path: Path) -> None:
    file = tmp_path / "token.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nfauxka.sasl.oauthbearer.token.command=true\n"
    )
    (tmp_path / "t-0").mkdir()
    target = ("--to", "once", "--to-bootstrap", broker.bootstrap_servers, "--to-command-config", str(file))

    ended = run(
        "dedup", "--from", "t", "--path", str(tmp_path), "--event-id", "key", "--batch", *target,
        seconds_max=START_SECONDS_MAX,
    )  # fmt: skip

    assert ended.exit_code == 2
    assert ended.log.startswith("fauxka: to: Spark's format kafka, which writes a topic, cannot use a token command")


def test_plan_of_a_query_has_no_password_and_no_private_key(
    spark: SparkSession, broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.dataSource.register(FauxkaLog)
    properties = properties_of(broker)
    properties["ssl.keystore.key"] = (folder_of(broker) / "client.pem").read_text()
    del properties["ssl.keystore.location"]
    options = {f"kafka.{name}": value for name, value in properties.items()}
    frame = spark.read.format("fauxka-log").options(bootstrap=broker.bootstrap_servers, topics="events", **options)

    records = frame.load()
    records.explain(extended=True)

    assert records.count() == 2 * EVENTS
    shown = capsys.readouterr().out + str(records)
    assert "fauxka-log" in shown
    assert PASSWORD not in shown
    assert PRIVATE_KEY not in shown

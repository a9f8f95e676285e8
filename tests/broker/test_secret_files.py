"""Variables of Kafka's images that name files with secrets."""

from pathlib import Path

import pytest

from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.lifecycle.secret_files import SECRET_BYTES_MAX, with_secret_files

PLAIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";'
TOKENS = (
    'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="a";'
)
OTHER = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="hidden";'


def test_file_names_are_locations_and_credentials_are_passwords(tmp_path: Path) -> None:
    (tmp_path / "keystore_creds").write_text("keys\n")
    (tmp_path / "key_creds").write_text("key word")
    (tmp_path / "truststore_creds").write_text("trust\n\n")
    environment = {
        "KAFKA_NUM_PARTITIONS": "3",
        "KAFKA_SSL_KEYSTORE_FILENAME": "broker.jks",
        "KAFKA_SSL_KEYSTORE_CREDENTIALS": "keystore_creds",
        "KAFKA_SSL_KEY_CREDENTIALS": "key_creds",
        "KAFKA_SSL_TRUSTSTORE_FILENAME": "clients.jks",
        "KAFKA_SSL_TRUSTSTORE_CREDENTIALS": "truststore_creds",
    }

    assert with_secret_files(environment, tmp_path) == {
        "KAFKA_NUM_PARTITIONS": "3",
        "KAFKA_SSL_KEYSTORE_LOCATION": str(tmp_path / "broker.jks"),
        "KAFKA_SSL_KEYSTORE_PASSWORD": "keys",
        "KAFKA_SSL_KEY_PASSWORD": "key word",
        "KAFKA_SSL_TRUSTSTORE_LOCATION": str(tmp_path / "clients.jks"),
        "KAFKA_SSL_TRUSTSTORE_PASSWORD": "trust",
    }


def test_variables_without_a_value_set_nothing(tmp_path: Path) -> None:
    environment = {"KAFKA_SSL_KEYSTORE_FILENAME": "", "KAFKA_SSL_KEY_CREDENTIALS": "", "KAFKA_OPTS": "-Dx=y"}

    assert with_secret_files(environment, tmp_path) == {}


def test_jaas_file_is_the_config_of_each_listener(tmp_path: Path) -> None:
    file = tmp_path / "broker_jaas.conf"
    file.write_text(f"KafkaServer {{ {PLAIN} {TOKENS} }};\nsasl_ssl.KafkaServer {{ {OTHER} }};")
    environment = {
        "KAFKA_LISTENERS": "IN://:9092,SASL_SSL://:9093",
        "KAFKA_ADVERTISED_LISTENERS": "IN://a:9092",
        "KAFKA_OPTS": f"-Xmx1g -Djava.security.auth.login.config={file} -Dx=y",
    }

    added = with_secret_files(environment, tmp_path)

    assert {name: value for name, value in added.items() if name not in environment} == {
        "KAFKA_LISTENER_NAME_IN_PLAIN_SASL_JAAS_CONFIG": PLAIN,
        "KAFKA_LISTENER_NAME_IN_OAUTHBEARER_SASL_JAAS_CONFIG": TOKENS,
        "KAFKA_LISTENER_NAME_SASL__SSL_PLAIN_SASL_JAAS_CONFIG": OTHER,
    }


def test_variable_of_a_listener_has_precedence_over_the_jaas_file(tmp_path: Path) -> None:
    file = tmp_path / "broker_jaas.conf"
    file.write_text(f"KafkaServer {{ {PLAIN} }};")
    variable = "KAFKA_LISTENER_NAME_IN_PLAIN_SASL_JAAS_CONFIG"
    environment = {"KAFKA_LISTENERS": "IN://:9092", "KAFKA_OPTS": f"-Djava.security.auth.login.config={file}"}

    assert with_secret_files({**environment, variable: OTHER}, tmp_path)[variable] == OTHER


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        (
            {"KAFKA_SSL_KEYSTORE_CREDENTIALS": "absent"},
            "KAFKA_SSL_KEYSTORE_CREDENTIALS: cannot read FOLDER/absent: No such file or directory",
        ),
        (
            {"KAFKA_OPTS": "-Djava.security.auth.login.config=FOLDER/absent"},
            "KAFKA_OPTS: cannot read FOLDER/absent: No such file or directory",
        ),
        (
            {"KAFKA_SSL_KEY_CREDENTIALS": "large"},
            f"KAFKA_SSL_KEY_CREDENTIALS: FOLDER/large has more than {SECRET_BYTES_MAX} bytes",
        ),
        (
            {"KAFKA_OPTS": "-Djava.security.auth.login.config=FOLDER/wrong"},
            "KAFKA_OPTS: FOLDER/wrong: expected entries NAME { module required ...; }; from line 1 on",
        ),
    ],
)
def test_file_that_cannot_be_used_is_named(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    (tmp_path / "large").write_bytes(bytes(SECRET_BYTES_MAX + 1))
    (tmp_path / "wrong").write_text("KafkaServer {")
    environment = {name: value.replace("FOLDER", str(tmp_path)) for name, value in variables.items()}

    with pytest.raises(ConfigError) as refused:
        with_secret_files(environment, tmp_path)

    assert str(refused.value) == message.replace("FOLDER", str(tmp_path))

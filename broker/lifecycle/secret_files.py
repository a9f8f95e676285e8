"""Variables of Kafka's images that name files with secrets: key stores, files with their passwords, and a JAAS config.

| variable | key that it sets |
|---|---|
| `KAFKA_SSL_KEYSTORE_FILENAME`, `KAFKA_SSL_TRUSTSTORE_FILENAME` | the `location` of the store, in /etc/kafka/secrets |
| `KAFKA_SSL_KEYSTORE_CREDENTIALS`, `KAFKA_SSL_TRUSTSTORE_CREDENTIALS` | its `password`, the text of that file there |
| `KAFKA_SSL_KEY_CREDENTIALS` | `ssl.key.password`, the text of that file there |
| `KAFKA_OPTS=-Djava.security.auth.login.config=FILE` | `sasl.jaas.config` of PLAIN and OAUTHBEARER of each listener |

The JAAS config is that of the entry NAME.KafkaServer (NAME in lower case) or KafkaServer. The variable of a key has
precedence over it.
Source: the script `configure` of the image and JaasContext.loadServerContext, Kafka 4.3.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...security.jaas import JAAS_CONFIG, OAUTHBEARER_MODULE, PLAIN_MODULE, parse_jaas_file
from ..config.config_types import ConfigError
from ..config.environment_variables import variable_of

SECRETS = Path("/etc/kafka/secrets")
SECRET_BYTES_MAX = 64 * 1024
_STORES = ("KAFKA_SSL_KEYSTORE", "KAFKA_SSL_TRUSTSTORE")
_PASSWORDS = (*_STORES, "KAFKA_SSL_KEY")
_JVM_OPTIONS = "KAFKA_OPTS"
_JAAS_FILE = re.compile(r"-Djava\.security\.auth\.login\.config==?(\S+)")
_MECHANISMS = {PLAIN_MODULE: "plain", OAUTHBEARER_MODULE: "oauthbearer"}
VARIABLES = frozenset(
    {_JVM_OPTIONS, *(f"{store}_FILENAME" for store in _STORES), *(f"{name}_CREDENTIALS" for name in _PASSWORDS)}
)


def with_secret_files(environment: Mapping[str, str], folder: Path = SECRETS) -> dict[str, str]:
    """Return the environment with the variables of the keys in place of those above. Raises ConfigError.

    folder: of the stores and of the files with passwords.
    """
    replaced = {name: value for name, value in environment.items() if name not in VARIABLES}
    for store in _STORES:
        if name := environment.get(f"{store}_FILENAME"):
            replaced[f"{store}_LOCATION"] = str(folder / name)
    for each in _PASSWORDS:
        if name := environment.get(f"{each}_CREDENTIALS"):
            # As $(cat FILE) does in the image.
            replaced[f"{each}_PASSWORD"] = _read(f"{each}_CREDENTIALS", folder / name).rstrip("\n")
    if found := _JAAS_FILE.search(environment.get(_JVM_OPTIONS, "")):
        for key, config in _jaas_configs(Path(found[1]), sorted(_listener_names(environment))):
            replaced.setdefault(variable_of(key), config)
    return replaced


def _listener_names(environment: Mapping[str, str]) -> set[str]:
    text = f"{environment.get('KAFKA_LISTENERS', '')},{environment.get('KAFKA_ADVERTISED_LISTENERS', '')}"
    return {
        name.strip().lower() for name, separator, _ in (each.partition("://") for each in text.split(",")) if separator
    }


def _jaas_configs(file: Path, listener_names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield key and value of each sasl.jaas.config in a file."""
    name = f"{_JVM_OPTIONS}: {file}"
    entries = parse_jaas_file(_read(_JVM_OPTIONS, file), name)
    for listener in listener_names:
        for module in entries.get(f"{listener}.KafkaServer", entries.get("KafkaServer", [])):
            mechanism = _MECHANISMS.get(module.split(maxsplit=1)[0])
            if mechanism is not None:
                yield f"listener.name.{listener}.{mechanism}.{JAAS_CONFIG}", module


def _read(variable: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(SECRET_BYTES_MAX + 1)
    except OSError as error:
        raise ConfigError(f"{variable}: cannot read {path}: {error.strerror}") from error
    if len(content) > SECRET_BYTES_MAX:
        raise ConfigError(f"{variable}: {path} has more than {SECRET_BYTES_MAX} bytes")
    return content.decode("utf-8", "replace")

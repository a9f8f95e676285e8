"""Brokers with a throw-away authority for the clients, and the client configurations of docs/security.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..serving_process import serving

MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
USER, PASSWORD = "alice", "secret"
VALUES = [b"a", b"b", b"c"]
# Of the page.
ADDRESS, FOLDER, MECHANISM = "localhost:9092", "certificates/", "SCRAM-SHA-512"
SCRAM_MODULE, PLAIN_MODULE = "scram.ScramLoginModule", "plain.PlainLoginModule"

_SECTION = (Path(__file__).parents[2] / "docs" / "security.md").read_text().partition("\n## Clients\n")[2]
_CLIENTS = _SECTION.partition("\n## ")[0]


@dataclass(frozen=True)
class SecuredBroker:
    """A broker, and the folder with its certificates. admin: the URL of the admin API, empty without one."""

    bootstrap: str
    folder: Path
    admin: str = ""

    def filled(self, block: str, mechanism: str = MECHANISM, password: str = PASSWORD) -> str:
        """Return a configuration of the page for this broker, a mechanism and a password."""
        text = block.replace(ADDRESS, self.bootstrap).replace(FOLDER, f"{self.folder}/").replace(MECHANISM, mechanism)
        text = text.replace(SCRAM_MODULE, PLAIN_MODULE) if mechanism == "PLAIN" else text
        return re.sub(rf'([:="]\s*){PASSWORD}\b', rf"\g<1>{password}", text)


def blocks_of(client: str) -> list[str]:
    """Return the configurations of a client: the one with a user, and the one with a certificate."""
    section = _CLIENTS.partition(f"\n### {client}\n")[2].partition("\n### ")[0]
    return [str(block) for block in re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)]


def properties_of(text: str) -> dict[str, str]:
    """Return the entries of key=value lines."""
    pairs = [line.partition("=") for line in text.splitlines()]
    return {key: value for key, _, value in pairs}


@pytest.fixture(scope="module")
def secured_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """A broker with SASL_SSL and a user."""
    folder = tmp_path_factory.mktemp("secured")
    ports = ["--port", "0", "--admin-port", "0"]
    options = ["--listener", "SASL_SSL", *ports, "--user", f"{USER}:{PASSWORD}", "--tls-dir", str(folder)]
    with serving(folder, *options, "-c", "group.initial.rebalance.delay.ms=0") as running:
        assert running.admin is not None, "--admin-port was given"
        yield SecuredBroker(running.bootstrap, folder, running.admin)


@pytest.fixture(scope="module")
def mutual_tls_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """A broker with SSL, whose clients must have a certificate."""
    folder = tmp_path_factory.mktemp("mutual")
    options = ["--listener", "SSL", "--port", "0", "--tls-dir", str(folder), "-c", "ssl.client.auth=required"]
    with serving(folder, *options, "-c", "group.initial.rebalance.delay.ms=0") as running:
        yield SecuredBroker(running.bootstrap, folder)

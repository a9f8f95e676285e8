"""Java clients of six releases against brokers of the same releases, and the versions that each pair negotiates."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import ExitStack
from pathlib import Path
from zipfile import ZipFile

import pytest

from fauxka.protocol.api_keys import APIS
from fauxka.testing import Broker

from ..golden.capture_releases import captured_releases

pytestmark = pytest.mark.java

FOLDER = Path(__file__).parent
RELEASES = ["2.1", "2.8", "3.6", "3.9", "4.0", "4.4"]
CLIENTS = ["2.1.1", "2.8.2", "3.6.2", "3.9.1", "4.0.0", "4.4.0"]
CACHE = Path.home() / ".cache" / "fauxka" / "java-clients"
# Six brokers one after another, and the start of a virtual machine; only a hang reaches it.
SECONDS_MAX = 540
# A client first asks in its own last version, and repeats in the one that the broker named.
NEGOTIATION = "ApiVersions"
# Later versions are for brokers, or have topic ids, which this program does not use.
SENT_BY_CLIENTS = {"AddPartitionsToTxn": 3, "OffsetCommit": 9, "OffsetFetch": 9}
USED = {"AddOffsetsToTxn", "AddPartitionsToTxn", "EndTxn", "Fetch", "InitProducerId", "JoinGroup", "OffsetCommit"}


def client_jars(version: str) -> Path:
    """Return the folder with the jars of a client, after a download where there was none."""
    folder = CACHE / version
    if not folder.exists():
        partial = CACHE / f"{version}.{os.getpid()}"
        maven = ["mvn", "-q", "-B", "-f", str(FOLDER / "java_clients" / "pom.xml"), "dependency:copy-dependencies"]
        subprocess.run([*maven, f"-Dkafka.version={version}", f"-DoutputDirectory={partial}"], check=True)
        partial.rename(folder)
    return folder


def last_versions_of(jar: Path) -> dict[str, int]:
    """Return the last version of each API that a client sends, by its own definitions; empty before it has them."""
    found: dict[str, int] = {}
    with ZipFile(jar) as content:
        for name in content.namelist():
            if re.fullmatch(r"common/message/\w+Request\.json", name):
                text = re.sub(r"^\s*//.*$", "", content.read(name).decode(), flags=re.MULTILINE).lstrip()
                definition, _ = json.JSONDecoder().raw_decode(text)
                if definition["validVersions"] != "none":
                    is_unstable = definition.get("latestVersionUnstable", False)
                    found[definition["name"].removesuffix("Request")] = (
                        int(definition["validVersions"].split("-")[-1]) - is_unstable
                    )
    return {api: min(last, SENT_BY_CLIENTS.get(api, last)) for api, last in found.items()}


@pytest.mark.parametrize("client", CLIENTS)
def test_client_works_with_each_release_in_the_versions_of_the_pair(client: str) -> None:
    jars = client_jars(client)
    of_client = last_versions_of(jars / f"kafka-clients-{client}.jar")

    with ExitStack() as stack:
        brokers = {release: stack.enter_context(Broker(as_version=release)) for release in RELEASES}
        for broker in brokers.values():
            broker.topics.create("orders")
        servers = [f"{release}={broker.bootstrap_servers}" for release, broker in brokers.items()]
        program = ["java", "-cp", f"{jars}/*", str(FOLDER / "java" / "ReleaseClient.java"), *servers]
        output = subprocess.run(
            program, check=True, stdout=subprocess.PIPE, encoding="utf-8", timeout=SECONDS_MAX
        ).stdout.splitlines()
        requests = {
            release: {(each.api, each.api_version) for each in broker.journal.entries()}
            for release, broker in brokers.items()
        }

    assert output == [f"{release} [idempotent, transactional]" for release in RELEASES]
    for release, sent in requests.items():
        _check_versions(sent, captured_releases()[release]["api_keys"], of_client)


def _check_versions(sent: set[tuple[str, int]], api_keys: list[list[int]], of_client: dict[str, int]) -> None:
    """Assert that each request has the last version that both the client and the real broker have."""
    of_broker = {APIS[key].name: last for key, _, last in api_keys if key in APIS}
    names = {api for api, _ in sent}
    # From transaction version 2 on, partitions and offsets join a transaction by themselves.
    assert names >= (USED - {"AddOffsetsToTxn", "AddPartitionsToTxn"} if ("EndTxn", 5) in sent else USED)
    if not of_client:
        assert all(version <= of_broker[api] for api, version in sent if api != NEGOTIATION)
        return
    different = [
        (api, version)
        for api, version in sorted(sent)
        if api != NEGOTIATION and version != min(of_client[api], of_broker[api])
    ]
    assert different == []

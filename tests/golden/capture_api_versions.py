"""Writes api_versions-VERSION.json anew from real Kafkas: python -m tests.golden.capture_api_versions."""

import json
import tempfile
from pathlib import Path

from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

from ..reference.kafka_process import running_kafka
from ..wire.message_client import MessageClient

KAFKA_VERSIONS = ("4.3.0", "4.4.0")
VERSION = 4
HOW = (
    "What a broker of Kafka {} (KRaft, one node, default configuration) answered to ApiVersions v4; "
    "captured by python -m tests.golden.capture_api_versions"
)


def file_of(kafka_version: str) -> Path:
    """Return the file of a version of Kafka."""
    return Path(__file__).parent / f"api_versions-{kafka_version}.json"


def ask(bootstrap: str) -> ApiVersionsResponse:
    """Return the answer of the broker at "host:port"."""
    request = ApiVersionsRequest(client_software_name="capture", client_software_version="1")
    with MessageClient(bootstrap) as client:
        return client.call(request, VERSION, ApiVersionsResponse)


def main() -> None:
    """Start a broker of each version, ask it and write the file."""
    for version in KAFKA_VERSIONS:
        with (
            tempfile.TemporaryDirectory() as folder,
            running_kafka(Path(folder) / "kafka.log", version=version) as bootstrap,
        ):
            _write(version, ask(bootstrap))


def _write(kafka_version: str, response: ApiVersionsResponse) -> None:
    features = {each.name: [each.min_version, each.max_version] for each in response.supported_features}
    finalized = {each.name: [each.min_version_level, each.max_version_level] for each in response.finalized_features}
    captured = {
        "captured": HOW.format(kafka_version),
        "error_code": response.error_code,
        "throttle_time_ms": response.throttle_time_ms,
        "zk_migration_ready": response.zk_migration_ready,
        "api_keys": [[each.api_key, each.min_version, each.max_version] for each in response.api_keys],
        "supported_features": features,
        "finalized_features": finalized,
        "finalized_features_epoch": response.finalized_features_epoch,
    }
    rows = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in captured.items()]
    file_of(kafka_version).write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()

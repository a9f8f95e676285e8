"""Writes api_versions-4.3.0.json anew from a real Kafka: python -m tests.golden.capture_api_versions."""

import json
import tempfile
from pathlib import Path

from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

from ..reference.kafka_process import running_kafka
from ..wire.message_client import MessageClient

FILE = Path(__file__).parent / "api_versions-4.3.0.json"
VERSION = 4
HOW = (
    "What a broker of Kafka 4.3.0 (KRaft, one node, default configuration) answered to ApiVersions v4; "
    "captured by python -m tests.golden.capture_api_versions"
)


def ask(bootstrap: str) -> ApiVersionsResponse:
    """Return the answer of the broker at "host:port"."""
    request = ApiVersionsRequest(client_software_name="capture", client_software_version="1")
    with MessageClient(bootstrap) as client:
        return client.call(request, VERSION, ApiVersionsResponse)


def main() -> None:
    """Start a broker, ask it and write the file."""
    with tempfile.TemporaryDirectory() as folder, running_kafka(Path(folder) / "kafka.log") as bootstrap:
        response = ask(bootstrap)
    features = {each.name: [each.min_version, each.max_version] for each in response.supported_features}
    finalized = {each.name: [each.min_version_level, each.max_version_level] for each in response.finalized_features}
    captured = {
        "captured": HOW,
        "error_code": response.error_code,
        "throttle_time_ms": response.throttle_time_ms,
        "zk_migration_ready": response.zk_migration_ready,
        "api_keys": [[each.api_key, each.min_version, each.max_version] for each in response.api_keys],
        "supported_features": features,
        "finalized_features": finalized,
        "finalized_features_epoch": response.finalized_features_epoch,
    }
    rows = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in captured.items()]
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()

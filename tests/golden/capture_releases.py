"""Prints what a Kafka of any release answers to ApiVersions: python -m tests.golden.capture_releases HOST:PORT 2.8.2.

releases.jsonl has a line of it for each minor release from 2.1 to 4.4: one node of its last bugfix release, with the
default configuration; with ZooKeeper before 3.3, with KRaft from 3.3 on.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import request_frame
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fauxka.protocol.primitives import Reader

from ..wire.wire_connection import WireConnection

FILE = Path(__file__).parent / "releases.jsonl"
LAST_VERSION = 5
# No release has it, and brokers do not read the body of a version that they do not have.
UNKNOWN_VERSION = 99
API_VERSION_POSITION = 6
FIRST_VERSION_WITH_FEATURES = 3


def captured_releases() -> dict[str, dict[str, Any]]:
    """Return the lines of the file by "major.minor"."""
    lines = [json.loads(line) for line in FILE.read_text().splitlines()]
    return {".".join(line["release"].split(".")[:2]): line for line in lines}


def request(version: int) -> bytes:
    """Return the frame of a request. An unknown version has the body of the last one."""
    message = ApiVersionsRequest(client_software_name="capture", client_software_version="1")
    frame = bytearray(request_frame(APIS[ApiKey.API_VERSIONS], min(version, LAST_VERSION), 1, message))
    frame[API_VERSION_POSITION : API_VERSION_POSITION + 2] = version.to_bytes(2, "big")
    return bytes(frame)


def decoded(version: int, body: bytes) -> ApiVersionsResponse:
    """Return the response. body: what follows the correlation id. The one to an unsupported version is in version 0."""
    is_unsupported = int.from_bytes(body[:2], "big") == ErrorCode.UNSUPPORTED_VERSION
    return ApiVersionsResponse.read(Reader(body), 0 if is_unsupported else version)


def _ask(bootstrap: str, version: int) -> ApiVersionsResponse:
    with WireConnection(bootstrap) as connection:
        connection.send(request(version))
        return decoded(version, connection.receive_frame()[4:])


def keys_of(response: ApiVersionsResponse) -> list[list[int]]:
    """Return the key, the first and the last version of each API."""
    return [[each.api_key, each.min_version, each.max_version] for each in response.api_keys]


def levels_of(response: ApiVersionsResponse) -> dict[str, Any]:
    """Return the supported and the finalized levels of the features, and whether they have an epoch."""
    return {
        "has_epoch": response.finalized_features_epoch >= 0,
        "supported": {each.name: [each.min_version, each.max_version] for each in response.supported_features},
        "finalized": {
            each.name: [each.min_version_level, each.max_version_level] for each in response.finalized_features
        },
    }


def line_of(release: str, responses: dict[int, ApiVersionsResponse]) -> str:
    """Return the line of a release. responses: by version, with the unknown one."""
    supported = {version: each for version, each in responses.items() if each.error_code == ErrorCode.NONE}
    (keys,) = {str(keys_of(each)): keys_of(each) for each in supported.values()}.values()
    with_features = sorted(version for version in supported if version >= FIRST_VERSION_WITH_FEATURES)
    captured = {
        "release": release,
        "api_keys": keys,
        "versions": sorted(supported),
        "unsupported": keys_of(responses[UNKNOWN_VERSION]),
        "features": {str(version): levels_of(supported[version]) for version in with_features},
    }
    return json.dumps(captured)


def main() -> None:
    """Ask the broker and print the line."""
    bootstrap, release = sys.argv[1:]
    versions = [*range(LAST_VERSION + 1), UNKNOWN_VERSION]
    sys.stdout.write(line_of(release, {version: _ask(bootstrap, version) for version in versions}) + "\n")


if __name__ == "__main__":
    main()

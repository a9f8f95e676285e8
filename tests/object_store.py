"""A bucket of an S3 server, filled from folders, and the requests that were sent to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

import pyarrow.parquet as parquet
import pytest
from pyarrow.fs import FileSelector, FileType, S3FileSystem

LOOPBACK = "127.0.0.1"
START_SECONDS_MAX = 60
POLL_SECONDS = 0.02
BUCKET = "logs"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "secret-of-reader", "AWS_REGION": "us-east-1"}


class Request(NamedTuple):
    """A request: LIST, HEAD, GET, PUT, POST or DELETE; the key; the range of a GET, with its end included."""

    kind: str
    key: str
    start: int = 0
    end: int = -1

    @property
    def size(self) -> int:
        """The number of requested bytes."""
        return self.end - self.start + 1


@dataclass(frozen=True)
class Bucket:
    """An empty bucket. folder: of the server's files."""

    endpoint: str
    folder: Path

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables of a client."""
        return {**CREDENTIALS, "AWS_ENDPOINT_URL": f"http://{self.endpoint}"}

    @property
    def file_system(self) -> S3FileSystem:
        """A client of its own, which creates the bucket."""
        return S3FileSystem(
            access_key=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            secret_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            endpoint_override=self.endpoint,
            scheme="http",
            region=CREDENTIALS["AWS_REGION"],
            allow_bucket_creation=True,
        )

    def upload(self, folder: Path, to: str) -> str:
        """Put the files of a folder and return the URI."""
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                self.put(f"{to}/{file.relative_to(folder)}", file.read_bytes())
        return f"s3://{BUCKET}/{to}"

    def put(self, key: str, content: bytes) -> str:
        """Put an object and return its URI."""
        with self.file_system.open_output_stream(f"{BUCKET}/{key}", compression=None) as stream:
            stream.write(content)
        return f"s3://{BUCKET}/{key}"

    def get(self, key: str) -> bytes:
        """Return the content of an object."""
        with self.file_system.open_input_file(f"{BUCKET}/{key}") as file:
            return bytes(file.readall())

    def parquet_rows(self, below: str) -> list[dict[str, object]]:
        """Return the rows of a folder of parquet, which Arrow reads as every reader does."""
        table = parquet.read_table(f"{BUCKET}/{below}", filesystem=self.file_system)  # pyright: ignore[reportUnknownMemberType]
        return table.to_pylist()

    def keys(self, below: str) -> list[str]:
        """Return the keys below a prefix."""
        found = self.file_system.get_file_info(FileSelector(f"{BUCKET}/{below}", recursive=True, allow_not_found=True))
        return sorted(file.path.removeprefix(f"{BUCKET}/") for file in found if file.type == FileType.File)

    def delete(self, key: str) -> None:
        """Delete an object."""
        self.file_system.delete_file(f"{BUCKET}/{key}")

    def requests(self) -> list[Request]:
        """Return the requests since the last call."""
        file = self.folder / "requests"
        lines = file.read_text().splitlines() if file.exists() else []
        file.write_text("")
        return [_request_of(json.loads(line)) for line in lines]

    @contextmanager
    def failing(self, how: str) -> Generator[None, None, None]:
        """Deny or delay all requests within the block. how: denied or slow."""
        flag = self.folder / how
        flag.touch()
        try:
            yield
        finally:
            flag.unlink()


def _request_of(line: Mapping[str, str]) -> Request:
    key = line["path"].removeprefix(f"/{BUCKET}").removeprefix("/")
    if "list-type" in line["query"]:
        return Request("LIST", parse_qs(line["query"]).get("prefix", [""])[0])
    if not line["range"]:
        return Request(line["method"], key)
    start, _, end = line["range"].removeprefix("bytes=").partition("-")
    return Request(line["method"], key, int(start), int(end))


@contextmanager
def running_bucket(folder: Path) -> Generator[Bucket, None, None]:
    """Run a server with one bucket within the block. folder: for its files."""
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("s3_server.py")), str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        bucket = Bucket(f"{LOOPBACK}:{_port_of(process, folder)}", folder)
        bucket.file_system.create_dir(BUCKET)
        yield bucket
    finally:
        process.kill()
        process.wait()


def _port_of(process: subprocess.Popen[bytes], folder: Path) -> int:
    deadline = time.monotonic() + START_SECONDS_MAX
    while not (folder / "port").exists():
        assert process.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < deadline, f"no port after {START_SECONDS_MAX} s: {(folder / 'log').read_text()}"
        time.sleep(POLL_SECONDS)
    return int((folder / "port").read_text())


def set_variables(patch: pytest.MonkeyPatch, bucket: Bucket) -> None:
    """Set the environment variables of a client in this process."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        patch.delenv(name)
    for name, value in bucket.variables.items():
        patch.setenv(name, value)

"""A package index on loopback: a folder of wheels over HTTP. It is also the proxy to an index of another name."""

import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# No name server has it: only the proxy reaches it.
HOST_BEHIND_PROXY = "index.invalid"


class PackageIndex:
    """The addresses of the index, and the hosts that clients asked it for as a proxy."""

    def __init__(self, port: int, proxied: list[str]) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.url = f"{self.address}/simple/"
        self.url_behind_proxy = f"http://{HOST_BEHIND_PROXY}/simple/"
        self.proxied = proxied


class _Handler(SimpleHTTPRequestHandler):
    def __init__(self, *arguments: Any, proxied: list[str], directory: str) -> None:
        self._proxied = proxied
        super().__init__(*arguments, directory=directory)

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.hostname is not None:
            self._proxied.append(address.hostname)
            self.path = address.path
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def serving_index(wheels: Path, folder: Path) -> Generator[PackageIndex, None, None]:
    """Serve a folder of wheels. folder: an empty one for the pages of the index."""
    for wheel in wheels.glob("*.whl"):
        project = re.sub(r"[-_.]+", "-", wheel.name.partition("-")[0]).lower()
        place = folder / "simple" / project
        place.mkdir(parents=True, exist_ok=True)
        (place / wheel.name).symlink_to(wheel)
    proxied: list[str] = []
    handler = partial(_Handler, proxied=proxied, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield PackageIndex(server.server_port, proxied)
        finally:
            server.shutdown()
            thread.join()

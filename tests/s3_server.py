"""An S3 server for tests, in a process of its own: `python s3_server.py FOLDER`.

Writes its port to FOLDER/port and a JSON line for each request to FOLDER/requests. While FOLDER/denied exists, every
request is denied; while FOLDER/slow exists, none is answered.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from moto.moto_server.werkzeug_app import (  # pyright: ignore[reportMissingTypeStubs]
    DomainDispatcherApplication,
    create_backend_app,
)
from werkzeug.serving import make_server

LOOPBACK = "127.0.0.1"
# Longer than any client waits.
SLOW_SECONDS = 60

Environment = dict[str, Any]
Application = Callable[[Environment, Callable[..., Any]], Iterable[bytes]]


def recording(application: Application, folder: Path) -> Application:
    """Return the application with a log of its requests."""
    lock = threading.Lock()

    def call(environment: Environment, start_response: Callable[..., Any]) -> Iterable[bytes]:
        line = {
            "method": environment["REQUEST_METHOD"],
            "path": environment["PATH_INFO"],
            "query": environment["QUERY_STRING"],
            "range": environment.get("HTTP_RANGE"),
        }
        with lock, (folder / "requests").open("a") as file:
            file.write(json.dumps(line) + "\n")
        if (folder / "slow").exists():
            time.sleep(SLOW_SECONDS)
        if (folder / "denied").exists():
            start_response("403 Forbidden", [("Content-Type", "application/xml")])
            return [b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"]
        return application(environment, start_response)

    return call


def main() -> None:
    """Serve until the process is killed."""
    folder = Path(sys.argv[1])
    application = recording(DomainDispatcherApplication(create_backend_app), folder)
    server = make_server(LOOPBACK, 0, application, threaded=True)
    # Renamed, so that a reader sees it whole.
    written = folder / "port.new"
    written.write_text(str(server.server_port))
    written.rename(folder / "port")
    server.serve_forever()


if __name__ == "__main__":
    main()

"""Workers of Kafka Connect: their settings, and their REST API."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from .programs import RUN_SECONDS_MAX, Program


def settings_of(program: Program, file: str, folder: Path, **settings: str) -> str:
    """Write a file of properties with the settings of this run added, and return its path."""
    added = "".join(f"{key.replace('__', '.')}={value}\n" for key, value in settings.items())
    target = folder / file
    target.write_text((program.folder / file).read_text() + added)
    return str(target)


def rest_address(log_file: Path) -> str | None:
    """Return the address of the REST API of a worker from its log; None before it serves."""
    log = log_file.read_text(errors="replace")
    if "Kafka Connect started" not in log:
        return None
    (address,) = re.findall(r"REST server listening at (http://\S+?)/?,", log)
    return str(address)


def start_connector(address: str, name: str, **config: str) -> None:
    """Create a connector of one task, if it does not exist. Raises OSError if the worker refuses it."""
    named = {key.replace("_", "."): value for key, value in config.items()}
    body = json.dumps({"tasks.max": "1", **named}).encode()
    url = f"{address}/connectors/{name}/config"
    request = Request(url, body, {"Content-Type": "application/json"}, method="PUT")
    with urlopen(request, timeout=RUN_SECONDS_MAX):
        pass


def failures_of(address: str, name: str) -> list[str]:
    """Return the stack traces of a connector and of its tasks that have failed. Raises OSError if it is unknown."""
    with urlopen(f"{address}/connectors/{name}/status", timeout=RUN_SECONDS_MAX) as response:
        status: dict[str, Any] = json.load(response)
    return [str(each["trace"]) for each in (status["connector"], *status["tasks"]) if each["state"] == "FAILED"]

"""The environment variables of compose files for Kafka's images, as they are found in public repositories."""

import json
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("compose_environments.json")


class ComposeEnvironment(NamedTuple):
    """One service. listeners: where it listens; ignored and warnings: lines of the log about variables."""

    name: str
    image: str
    hostname: str
    environment: dict[str, str]
    listeners: list[str]
    ignored: list[str]
    warnings: list[str]


ENVIRONMENTS = [ComposeEnvironment(**entry) for entry in json.loads(FILE.read_text())["environments"]]

"""What a node of a cluster can be cut off from."""

from __future__ import annotations

from enum import Enum
from typing import Literal

# The values of Isolation, for models of the admin API.
Surroundings = Literal["controller", "nodes", "clients"]


class Isolation(Enum):
    """What a node is cut off from. The values are those of the admin API."""

    value: Surroundings

    CONTROLLER = "controller"
    NODES = "nodes"
    CLIENTS = "clients"

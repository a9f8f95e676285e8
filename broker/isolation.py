"""What a node of a cluster can be cut off from."""

from __future__ import annotations

from enum import Enum
from typing import Literal

# The values of Isolation, for models of the admin API.
Surroundings = Literal["controller", "nodes", "clients"]


class Isolation(Enum):
    """What a node is cut off from."""

    CONTROLLER = "controller"
    NODES = "nodes"
    CLIENTS = "clients"

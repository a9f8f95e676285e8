"""The control steps of a script, as a cluster of nodes 1, 2 and 3 offers them."""

from typing import Protocol

# The controller, which is a process of its own. It is killed and started, and nothing else.
CONTROLLER = 100


class ClusterControl(Protocol):
    """Three running nodes, to be killed, stopped, frozen and brought back."""

    def address(self, node: int) -> str:
        """Return the "host:port" of a node, the same for its whole life."""
        ...

    def kill(self, node: int) -> None:
        """End a node at once (SIGKILL). The others notice it after `broker.session.timeout.ms`."""
        ...

    def stop(self, node: int) -> None:
        """Stop a node by a controlled shutdown (SIGTERM), and return when it has ended."""
        ...

    def start(self, node: int) -> None:
        """Start a node that was killed or stopped, on its data, and return when it accepts requests."""
        ...

    def freeze(self, node: int) -> None:
        """Stop a node from doing anything (SIGSTOP): it neither fetches, nor sends heartbeats, nor responds."""
        ...

    def thaw(self, node: int) -> None:
        """Let a frozen node go on (SIGCONT)."""
        ...

    def pass_seconds(self, seconds: float) -> None:
        """Return when at least that much time has passed on the nodes' clocks."""
        ...

    def elapsed_seconds(self) -> float:
        """Return the time on the nodes' clocks, counted from any start."""
        ...

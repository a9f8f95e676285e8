"""A thread whose failure is raised where it is joined."""

import threading
from collections.abc import Callable


class CheckedThread:
    """A thread that runs one function once."""

    def __init__(self, name: str, run: Callable[[], None]) -> None:
        self._run = run
        self._thread = threading.Thread(target=self._catch, name=name)
        self.failure: BaseException | None = None

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        """Wait for the end, however the function ended. No effect before the start."""
        if self._thread.ident is not None:
            self._thread.join()

    def finish(self) -> None:
        """Wait for the end. Raises what the function has raised."""
        self.join()
        if self.failure is not None:
            raise self.failure

    def _catch(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self.failure = error

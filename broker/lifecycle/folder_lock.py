"""The lock of a data folder. It excludes the threads and processes of fauxka, and Kafka's."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from errno import ENOSYS

    def lock(descriptor: int, *, is_shared: bool) -> None:
        """Raise OSError: the files of a data folder are renamed and deleted while they are open."""
        raise OSError(ENOSYS, "data folders need Linux or macOS")

else:
    import fcntl

    def lock(descriptor: int, *, is_shared: bool) -> None:
        """Lock a file without waiting. Raises BlockingIOError or PermissionError if another process has the lock."""
        kind = fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX
        # flock also excludes other threads of this process; lockf is the kind of lock that Java uses.
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        fcntl.lockf(descriptor, kind | fcntl.LOCK_NB)

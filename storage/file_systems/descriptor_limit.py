"""How many file descriptors the process may have. Windows has no such limit."""

from __future__ import annotations

import sys

if sys.platform == "win32":

    def find_descriptor_limit() -> int | None:
        """Return None."""
        return None

else:
    import resource

    def find_descriptor_limit() -> int | None:
        """Return the soft limit of the process; None without one."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return None if soft == resource.RLIM_INFINITY else soft

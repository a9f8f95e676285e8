"""Clock, event loop, disk threads and log output."""

"""Prints the time to import fauxka.testing and to start the first broker, in ms as JSON."""

import json
import time

start = time.perf_counter()
from fauxka.testing import Broker  # noqa: E402 - the import is measured

imported = time.perf_counter()
broker = Broker().start()
ready = time.perf_counter()
broker.stop()
print(json.dumps({"import_ms": (imported - start) * 1000, "ready_ms": (ready - imported) * 1000}))

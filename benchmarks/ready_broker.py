"""Prints how long importing a broker for tests takes, and then starting the first one of the process, in ms as JSON."""

import json
import time

start = time.perf_counter()
from fauxka.testing import Broker  # noqa: E402 - its import is what is measured

imported = time.perf_counter()
broker = Broker().start()
ready = time.perf_counter()
broker.stop()
print(json.dumps({"import_ms": (imported - start) * 1000, "ready_ms": (ready - imported) * 1000}))

"""Tasks over the Kafka transport of kombu: `worker` runs them, `send` sends them; results go to files in a folder."""

import sys
from pathlib import Path

from celery import Celery

role, bootstrap, folder = sys.argv[1:]
TASKS = 10

app = Celery("bills", broker=f"confluentkafka://{bootstrap}")
app.conf.update(
    task_default_queue="orders", task_ignore_result=True, worker_pool="solo", broker_connection_retry_on_startup=True
)


@app.task(name="bill")
def bill(number: int) -> None:
    with (Path(folder) / "bills").open("a") as bills:
        bills.write(f"bill for order {number}\n")


if role == "worker":
    app.worker_main(["worker", "--loglevel=warning", "--without-gossip", "--without-mingle", "--without-heartbeat"])
else:
    for number in range(TASKS):
        bill.delay(number)

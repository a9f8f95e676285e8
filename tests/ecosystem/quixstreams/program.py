"""Counts the orders of each customer until it is stopped, with a state that has a changelog.

Arguments: address, folder of the state, and the guarantee: "exactly-once", with transactions, or "at-least-once".
"""

import sys

from quixstreams import Application, State

bootstrap, state_dir, guarantee = sys.argv[1:]
app = Application(
    broker_address=bootstrap,
    consumer_group="counters",
    auto_offset_reset="earliest",
    processing_guarantee=guarantee,
    commit_every=5,
    state_dir=state_dir,
)
orders = app.topic("orders", value_deserializer="json")
counts = app.topic("counts", value_serializer="json")


def count(order: dict, state: State) -> dict:
    so_far = state.get("orders", 0) + 1
    state.set("orders", so_far)
    return {"customer": order["customer"], "orders": so_far}


app.dataframe(orders).apply(count, stateful=True).to_topic(counts)
app.run()

"""An agent with a table of counts, whose changelog is a topic; what it reads and writes is exactly once."""

import sys

import faust

bootstrap, data_dir = sys.argv[1:]

app = faust.App(
    "counters",
    broker=f"kafka://{bootstrap}",
    datadir=data_dir,
    topic_partitions=1,
    topic_replication_factor=1,
    processing_guarantee="exactly_once",
    web_enabled=False,
)
orders = app.topic("orders", key_type=str, value_type=bytes, value_serializer="raw")
counts = app.topic("counts", key_type=str, value_type=bytes, value_serializer="raw")
table = app.Table("orders-of-customer", key_type=str, value_type=int, default=int)


@app.agent(orders)
async def count(stream):
    async for customer, _ in stream.items():
        table[customer] += 1
        await counts.send(key=customer, value=b"%d" % table[customer])


if __name__ == "__main__":
    sys.argv[1:] = ["worker", "--loglevel=warn", "--without-web"]
    app.main()

"""A dataflow from a topic to a topic, which ends at the end of the topic."""

import sys

import bytewax.operators as op
from bytewax.connectors.kafka import KafkaSinkMessage
from bytewax.connectors.kafka import operators as kafka
from bytewax.dataflow import Dataflow
from bytewax.testing import cluster_main

(bootstrap,) = sys.argv[1:]

flow = Dataflow("bills")
orders = kafka.input("orders", flow, brokers=[bootstrap], topics=["orders"], tail=False)
bills = op.map("bill", orders.oks, lambda order: KafkaSinkMessage(order.key, b"bill for " + order.value))
kafka.output("bills", bills, brokers=[bootstrap], topic="bills")

cluster_main(flow, [], 0)

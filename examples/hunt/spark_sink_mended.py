"""Writes orders by Spark. A failed task fails the job, and its user finds out what it has written."""

from spark_sink import write_orders

write_orders(attempts=1)

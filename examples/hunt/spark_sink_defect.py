"""Writes orders by Spark. Defect: Spark starts a failed task again, which writes again what it has written."""

from spark_sink import write_orders

write_orders(attempts=4)

"""Sends orders to two partitions, each when the one before is acknowledged."""

from partitions import send_orders

send_orders(in_flight=1)

"""Sends orders to two partitions at once. Defect: a refused order of one may double an order of the other."""

from partitions import send_orders

send_orders(in_flight=5)

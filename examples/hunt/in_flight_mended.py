"""Sends orders, each when the one before is acknowledged."""

from in_flight import send_orders

send_orders(in_flight=1)

"""Sends orders at once. Defect: if the first is refused and the next is not, the client takes both for written."""

from in_flight import send_orders

send_orders(in_flight=5)

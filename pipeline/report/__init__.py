"""The result of an audit: totals and first examples as plain data (summary.py), as text, JSON and a page with pictures.

The size of a result does not depend on the number of findings. All text of a log is escaped in the page.
"""

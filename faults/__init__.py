"""Fault injection: rules, the journal of requests and the verdict. No socket, event loop or clock."""

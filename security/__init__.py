"""What the broker and its clients share of TLS and SASL: JAAS configs, key stores, and the names of the protocols.

Nothing here opens a connection. An invalid value is a ConfigError, whose message has no password, key or token.
"""

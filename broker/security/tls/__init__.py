"""TLS: key stores, throw-away certificates, and the names in the certificates of clients."""

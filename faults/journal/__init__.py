"""The journal: each request with the broker's decisions and its response."""

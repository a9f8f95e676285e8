"""Error responses for any API and version."""

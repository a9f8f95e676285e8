"""The producers of scenarios: real clients and the raw client."""

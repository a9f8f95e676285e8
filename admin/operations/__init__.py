"""The operations of the admin API, one module a subject."""

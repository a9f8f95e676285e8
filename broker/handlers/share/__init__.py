"""Handlers of the APIs for share groups (KIP-932)."""

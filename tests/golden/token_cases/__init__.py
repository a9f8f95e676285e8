"""The cases of capture_tokens."""

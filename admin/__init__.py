"""The second door: HTTP for tests that steer the broker, and the operations behind it, which tests call in process."""

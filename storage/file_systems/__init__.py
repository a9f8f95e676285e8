"""File systems that hold logs: the operating system's, memory, and an overlay of both."""

"""File fault rules, and the file system that applies them."""

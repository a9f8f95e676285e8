"""Small text and binary files beside the logs."""

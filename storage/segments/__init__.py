"""Log segments and their indexes."""

"""Group and offset coordination."""

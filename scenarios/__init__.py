"""The named scenarios: data that says what is done and what must be seen, and what runs them."""

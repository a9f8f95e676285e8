"""What happened in a scenario: timeline, sequence diagram and report."""

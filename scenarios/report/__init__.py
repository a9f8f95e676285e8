"""The report of a scenario: timeline, sequence diagram and text."""

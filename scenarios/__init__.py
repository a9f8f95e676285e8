"""Named scenarios: files with the steps and the expected result, and the engine that runs them."""

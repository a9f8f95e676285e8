"""Login probes: conversations on every secured listener, right and wrong, and who the client is behind them."""

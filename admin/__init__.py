"""HTTP admin API: routes, request models and the operations behind them, which tests also call in process."""

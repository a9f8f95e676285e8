"""The audits of a log, a ledger and a journal."""

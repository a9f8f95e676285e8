"""The offline report: the page of one run as a single HTML file that needs no broker."""

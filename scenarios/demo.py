"""The output of `fauxka demo`: a scenario with one lost acknowledgement, and the commands for the next step."""

from __future__ import annotations

import sys

from . import command

SCENARIO = "one-lost-ack"
SEND = """curl -s $(fauxka admin)/v1/topics/orders/produce -d '{"records": [{"value": "one coffee"}]}'"""
# For cmd and PowerShell, which have different quotes and substitutions.
SEND_ON_WINDOWS = (
    'python -c "from fauxka.testing import RemoteBroker as B; '
    "print(B('http://localhost:9099').topics.produce('orders', 'one coffee'))\""
)
# docs/README.md leads on from here.
NEXT = f"""
Next, with a broker of your own. Paste into one terminal:

    fauxka serve --seed-topic orders

and into another one:

    fauxka fault add lost_ack --topic orders
    {SEND_ON_WINDOWS if sys.platform == "win32" else SEND}
    fauxka verdict orders

The second command sends no batch again: the verdict finds a stored batch without an acknowledgement.
Add the rule again and run your own producer, with bootstrap.servers=127.0.0.1:9092.

The same as a test for pytest, where fauxka is installed:

    def test_lost_ack(fauxka, faults):
        with faults.lost_ack(topic="orders"):
            send_order(fauxka.bootstrap_servers)
        fauxka.verdict("orders").assert_exactly_once()
"""


def demo_text() -> tuple[str, bool]:
    """Return the report of the scenario with the next commands, and whether all checks passed. Raises DidNotEnd."""
    text, passed = command.run_text(SCENARIO, None, None, as_json=False)
    return f"{text}\n{NEXT}".rstrip(), passed

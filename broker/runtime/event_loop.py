"""The event loop of the broker: uvloop's if it is installed."""

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new event loop of uvloop, or of asyncio without uvloop."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()

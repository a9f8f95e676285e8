"""The event loop the broker runs on: uvloop's where it is installed."""

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new event loop of uvloop, or of asyncio where there is no uvloop."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()

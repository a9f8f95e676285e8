"""The families of actions, of requests and of files."""

from __future__ import annotations

from enum import Enum


class Family(Enum):
    """What an action does, in one word. It decides the colour on the page."""

    OBSERVE = "observe"
    CUT = "cut"
    REFUSAL = "refusal"
    SLOW = "slow"
    DAMAGE = "damage"
    TWICE = "twice"

"""The numbers of rules: their units and bounds."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

INT64_MAX = 2**63 - 1
INT32_MAX = 2**31 - 1
# An error code is a Java short.
ERROR_CODE_MIN = -(2**15)
ERROR_CODE_MAX = 2**15 - 1

Natural = Annotated[int, Meta(ge=0, le=INT64_MAX)]
Ordinal = Annotated[int, Meta(ge=1, le=INT64_MAX)]
Milliseconds = Annotated[int, Meta(ge=0, le=INT64_MAX)]
SomeMilliseconds = Annotated[int, Meta(ge=1, le=INT64_MAX)]
# The throttle time of a response, and the size of a frame, are Java ints.
ThrottleMilliseconds = Annotated[int, Meta(ge=0, le=INT32_MAX)]
ResponseBytes = Annotated[int, Meta(ge=0, le=INT32_MAX)]
SomeResponseBytes = Annotated[int, Meta(ge=1, le=INT32_MAX)]
ErrorNumber = Annotated[int, Meta(ge=ERROR_CODE_MIN, le=ERROR_CODE_MAX)]

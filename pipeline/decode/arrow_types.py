"""Arrow to the type checkers: what an array or a field holds is known when it is made, and not before.

The types that pyarrow-stubs gives to what makes arrays miss numpy's arrays as buffers, as indices and as masks, and
types that come as a value; such calls go through `arrow`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

arrow: Any = pa

if TYPE_CHECKING:
    ArrowArray: TypeAlias = pa.Array[Any]
    ArrowField: TypeAlias = pa.Field[Any]
else:
    ArrowArray = ArrowField = object

"""Types of pyarrow for the type checkers.

pyarrow-stubs does not accept numpy arrays as buffers, indices and masks, nor a DataType held in a variable. Such calls
use `arrow`, which is pyarrow typed as Any.
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

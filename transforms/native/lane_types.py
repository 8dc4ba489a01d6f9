"""The type of a vector of words in code that numba compiles (see lanes.py).

Only a process that compiles imports this module.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.datamodel import models, register_default


class LaneType(types.Type):
    """The type of a vector with this number of words."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"lanes({count})")


@register_default(LaneType)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, ir.VectorType(ir.IntType(64), lanes.count))

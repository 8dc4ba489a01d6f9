"""The types of vectors of words in code that numba compiles (see lanes.py and position_sets.py).

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


class SetsType(types.Type):
    """The type of several vectors with this number of words each."""

    def __init__(self, count: int, vectors: int) -> None:
        self.count = count
        self.vectors = vectors
        super().__init__(name=f"sets({count}, {vectors})")


@register_default(LaneType)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Any) -> None:
        super().__init__(manager, lanes, _vector(lanes.count))


@register_default(SetsType)
class _SetsModel(models.PrimitiveModel):
    def __init__(self, manager: Any, sets: Any) -> None:
        super().__init__(manager, sets, ir.ArrayType(_vector(sets.count), sets.vectors))


def _vector(count: int) -> Any:
    return ir.VectorType(ir.IntType(64), count)

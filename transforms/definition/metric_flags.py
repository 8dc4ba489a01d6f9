"""How a metric declares the flags of the command that define it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class MetricFlag:
    """A row of `FLAGS`, in the module `flags` of a metric.

    Attributes:
      name: its name, which is sacreBLEU's, if sacreBLEU has the flag: "chrf_beta".
      field: the field of the metric's config that it sets.
      description: what it chooses, for --help.
      metavar: what --help calls its value; "" for a switch, which sets the field to True.
      convert: makes the value of its text.
      short: sacreBLEU's short spelling, such as "-cc"; "" for none.
      changes_sums: whether other columns are counted with another value, even if each segment has
        one reference. Otherwise the value only chooses among several references, and makes the
        score of the sums.
    """

    name: str
    field: str
    description: str
    metavar: str = ""
    convert: Callable[[str], Any] = str
    short: str = ""
    changes_sums: bool = True

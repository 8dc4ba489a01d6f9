"""What all sums have in common: they are frozen, and have `+`."""

from __future__ import annotations

import abc
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Sums(abc.ABC):
    """Integers that are added up over a corpus, frozen: any engine gets the same."""

    @abc.abstractmethod
    def __add__(self, other: Any) -> Any:
        """The sums of both parts of the corpus.

        Raises:
          ValueError: they are sums of different things, for example of other columns.
        """

    @property
    def nbytes(self) -> int:
        """About how many bytes large arrays have; 0 if there are none."""
        return 0


def added(
    one: Mapping[_Key, _Value],
    other: Mapping[_Key, _Value],
    add: Callable[[_Value, _Value], _Value] = operator.add,
) -> dict[_Key, _Value]:
    """Both mappings, with the values of keys that both have added up."""
    both = dict(one)
    for key, value in other.items():
        both[key] = add(both[key], value) if key in both else value
    return both

"""How numbers are written in tables and in an interpreter."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

USUAL_DECIMALS = 1  # as in sacreBLEU; of scores without a standard error

_SMALLEST_P = 0.001  # Smaller p-values are estimates far out in a tail. Their digits mean nothing.
_SIGNIFICANT_DIGITS = 2
"""How many digits of a standard error are shown. More would be different on every test set."""

_MOST_DECIMALS = 12  # a double holds no more decimals of a score
HALF_INTERVAL = "± is half of the 95 % interval"


@dataclasses.dataclass(frozen=True)
class Number:
    """A number in a table, half of its interval, and a mark; "" for what it does not have."""

    text: str = ""
    half: str = ""
    mark: str = ""
    is_best: bool = False


def decimals_for(standard_errors: Iterable[float | None], usual: int) -> int:
    """The number of decimals for scores or differences that are shown together: enough for two
    significant digits of the smallest standard error; the usual one if no error is above 0.

    >>> decimals_for([0.34, None], 1), decimals_for([12.0], 1), decimals_for([None], 4)
    (2, 1, 4)
    """
    smallest = min(filter(None, standard_errors), default=None)
    if smallest is None:
        return usual
    rounded_error = f"{smallest:.{_SIGNIFICANT_DIGITS - 1}e}"
    needed = _SIGNIFICANT_DIGITS - 1 - int(rounded_error.partition("e")[2])
    return min(max(needed, 1), _MOST_DECIMALS)


def rounded(number: float, decimals: int) -> str:
    text = f"{number:.{decimals}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


def signed(number: float, decimals: int) -> str:
    text = f"{number:+.{decimals}f}"
    return text if text.strip("+-0.") else text[1:]


def estimate(
    number: float | None,
    interval: Sequence[float] | None,
    decimals: int,
    write: Callable[[float, int], str] = rounded,
    mark: str = "",
) -> Number:
    if number is None:
        return Number()
    half = "" if interval is None else f"{(interval[1] - interval[0]) / 2:.{decimals}f}"
    return Number(write(number, decimals), half, mark)


def estimates(column: Sequence[Number]) -> list[str]:
    """The cells of a column, aligned at the decimal points and at the signs ±.

    >>> estimates([Number("100.0", "0.0"), Number("57.8", "12.1", "*"), Number("7.0")])
    ['100.0 ±  0.0', ' 57.8 ± 12.1 *', '  7.0']
    """
    width = max((len(number.text) for number in column), default=0)
    width_of_half = max((len(number.half) for number in column), default=0)
    return [
        f"{number.text:>{width}}"
        f"{f' ± {number.half:>{width_of_half}}' if number.half else ''} {number.mark}".rstrip()
        for number in column
    ]


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def p_value(p: float | None) -> str:
    if p is None:
        return ""
    return f"<{_SMALLEST_P}" if p < _SMALLEST_P else f"{p:.3f}"


def printable_name(name: str) -> str:
    """The name of a system; with quotation marks and escapes if it cannot be printed as it is."""
    return name if name.isprintable() else repr(name)


def text_table(columns: Sequence[Sequence[str]]) -> str:
    from rich.cells import cell_len, set_cell_size  # here, because few scores are shown

    widths = [max(map(cell_len, column)) for column in columns]
    return "\n".join(
        "  ".join(map(set_cell_size, row, widths)).rstrip() for row in zip(*columns, strict=True)
    )

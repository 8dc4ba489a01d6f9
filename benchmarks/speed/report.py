"""The benchmark's report, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.measure import Run
from benchmarks.speed.results import Measurement, Results


def report(results: Mapping[int, Results], notes: str) -> str:
    """The report.

    Args:
      results: the figures and their measurements, by number.
      notes: where, when and how it was measured.
    """
    lines = ["# Results", "", notes, ""]
    lines += ["| | figure | reach | measured | |", "| --- | --- | --- | --- | --- |"]
    for number, (figures, _) in results.items():
        for figure in figures:
            verdict = "reached" if figure.reached else "**missed**"
            cells = (figure.figure, figure.reach, figure.measured, verdict)
            lines.append(f"| {number} | {' | '.join(cells)} |")
    lines += [
        "",
        "What was run for each figure: medians, and the range in brackets.",
        "",
        "| | what | pairs | runs | CPU s | wall s | pairs per CPU s | peak MB |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for number, (_, measurements) in results.items():
        lines += [f"| {number} | {_row(measurement)} |" for measurement in measurements]
    return "\n".join(lines) + "\n"


def _row(measurement: Measurement) -> str:
    return " | ".join(
        (
            measurement.what,
            f"{measurement.pairs:,}",
            str(len(measurement.runs)),
            _seconds(measurement, lambda run: run.cpu),
            _seconds(measurement, lambda run: run.wall),
            f"{measurement.rate:,.0f}",
            f"{measurement.median.peak / 1e6:.0f}",
        )
    )


def _seconds(measurement: Measurement, of: Callable[[Run], float]) -> str:
    text = _three_digits(of(measurement.median))
    if len(measurement.runs) > 1:
        every = [of(run) for run in measurement.runs]
        text += f" ({_three_digits(min(every))}–{_three_digits(max(every))})"
    return text


def _three_digits(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 100 else f"{seconds:#.3g}"

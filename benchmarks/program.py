"""What all benchmarks share: flags, the description of the machine, and the output of reports."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import platform
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.measure import cores


def command_parser(documentation: str | None) -> argparse.ArgumentParser:
    """A parser whose usage line names the module as the user has to type it.

    Args:
      documentation: the program's docstring; its first line is the description.
    """
    module = sys.modules["__main__"].__spec__
    assert module is not None  # the programs run with `python -m`
    prog = "python -m " + module.name.removesuffix(".__main__")
    return argparse.ArgumentParser(prog=prog, description=(documentation or "").partition("\n")[0])


def add_output_flag(parser: argparse.ArgumentParser) -> None:
    """Adds the flag --output."""
    parser.add_argument(
        "--output", type=pathlib.Path, metavar="FILE", help="where the report is written, too"
    )


def publish(report: str, output: pathlib.Path | None) -> None:
    """Prints a report, and writes it to the file of --output."""
    print(report, end="")
    if output:
        output.write_text(report, encoding="utf-8")


def machine(distributions: Sequence[str]) -> str:
    """The machine, its load, the date, and versions of Python, `wc` and these distributions."""
    installed = {each.name: each.version for each in importlib.metadata.distributions()}
    versions = [f"{name} {installed[name]}" for name in distributions if name in installed]
    wc = subprocess.run(["wc", "--version"], capture_output=True, text=True, check=True).stdout
    cpu_info = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in cpu_info if line.startswith("model name")]
    return (
        f"{models[0] if models else platform.machine()}, {len(cores())} of {os.cpu_count()} cores; "
        f"{platform.system()} {platform.release()}; "
        f"Python {platform.python_version()}, {', '.join(versions)}; {wc.splitlines()[0]}. "
        f"{datetime.date.today()}; load {os.getloadavg()[0]:.1f}."
    )

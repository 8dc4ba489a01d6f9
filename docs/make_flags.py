"""Makes what follows from the flags: the tables of docs/flags.md, and the types of keywords."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

from beam_bleu.pipeline.command_line.config import GROUPS
from beam_bleu.pipeline.library.keywords import KEYWORDS
from beam_bleu.transforms.definition.flags import Flag
from docs.pages import code, table, with_part

PAGE = pathlib.Path(__file__).parent / "flags.md"

_PAGES = {
    "input": "[line-parallel text](line_parallel.md)",
    "input, checks": "[line-parallel text](line_parallel.md), "
    "[rejected records](folder.md#rejected-records)",
    "input, records": "[forms of input](inputs.md)",
    "input, records of several systems, and known layouts": "[forms of input](inputs.md), "
    "[known layouts](inputs.md#known-layouts), [tasks](output.md#tasks)",
    "definition, metrics": "[definitions](definitions.md)",
    "definition, from texts to tokens": "[text](definitions.md#text), "
    "[languages](definitions.md#languages), [their scores](output.md#languages)",
    "definition, from n-grams to a score": "[smoothing](definitions.md#smoothing), "
    "[reference length](definitions.md#reference-length)",
    "definition, other metrics": "[chrF](chrf.md), [TER](ter.md), [ROUGE](rouge.md), "
    "[WER and CER](wer.md)",
    "definition, metrics of numbers": "[perplexity](perplexity.md), [means of numbers](mean.md)",
    "output": "[what stdout shows](terminal.md#what-stdout-shows), [saved totals](totals.md), "
    "[reruns](scheduling.md#reruns)",
    "output, more scores": "[presets](definitions.md#presets), [output](output.md)",
    "output, monitoring": "[metrics](folder.md#metrics), [alerts](../deploy/monitoring/README.md)",
    "slices and documents": "[labels](line_parallel.md#labels), "
    "[labels from paths](inputs.md#labels-from-paths), [slices](output.md#slices), "
    "[documents](inputs.md#documents)",
    "evidence": "[significance](significance.md), [resampling](resampling.md)",
    "gates": "[gates](terminal.md#gates)",
    "engine": "[engines](engines.md), [scale](scale.md)",
    "messages and help": "[what stderr shows](terminal.md#what-stderr-shows)",
}
"""By group of flags, the pages that say more."""


def made() -> dict[pathlib.Path, str]:
    """The page with new tables, and the types of the keywords of `Evaluate`, by their paths."""
    page = with_part(PAGE.read_text(encoding="utf-8"), "flags", "\n".join(_tables()))
    keywords = "".join(f"    {name}: {_type_of(flag)} | None\n" for name, flag in KEYWORDS.items())
    return {PAGE: page, _TYPES: f"{_HEAD}{keywords}"}


_TYPES = pathlib.Path(__file__).parent.parent / "pipeline" / "library" / "keyword_types.pyi"

_HEAD = '''"""The keywords of `Evaluate` for type checkers. docs/make.py writes this file."""

from collections.abc import Sequence
from typing import Any, TypedDict

class Keywords(TypedDict, total=False):
'''


_NUMBERS = {"N": "int", "N,N,...": "int", "VALUE": "float", "W,W,...": "float"}
_NUMBERS |= {"N|FRACTION": "float"}
"""The types of values that the help calls so. Thresholds are numbers or texts, others are texts."""


def _type_of(flag: Flag) -> str:
    """The type of a keyword."""
    if flag.name == "metrics":
        return "Sequence[Any]"
    if not flag.metavar:
        return "bool"
    kind = "float | str" if "=]" in flag.metavar else _NUMBERS.get(flag.metavar, "str")
    has_several = flag.is_many or flag.metavar.endswith(",...")
    return f"{kind} | Sequence[{kind}]" if has_several else kind


def _tables() -> Iterator[str]:
    if [*GROUPS] != [*_PAGES]:
        raise ValueError("_PAGES must have a line for each group of flags, in the same order")
    for title, flags in GROUPS.items():
        yield f"### {title[0].upper()}{title[1:]}\n"
        yield f"More: {_PAGES[title]}\n"
        yield table(["flag", "meaning"], ([_spellings(flag), flag.described] for flag in flags))


def _spellings(flag: Flag) -> str:
    value = f" {flag.metavar}" if flag.metavar else ""
    value += " ..." if flag.nargs in ("+", "*") else ""
    words = list(flag.words) or [""]
    words[-1] = f"{words[-1]}{value}".strip()
    return " ".join(map(code, words))

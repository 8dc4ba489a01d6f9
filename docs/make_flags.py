"""Generates docs/flags.md, and the types of the keywords of `Evaluate`, from the flags."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

from beam_bleu.pipeline.command_line.config import GROUPS
from beam_bleu.pipeline.library.evaluate import KEYWORDS
from beam_bleu.transforms.definition.flags import Flag
from docs.pages import code

PAGE = pathlib.Path(__file__).parent / "flags.md"

_INTRODUCTION = """\
# Flags

All flags of `beam-bleu`; `beam-bleu --help WORD` shows those about a topic or another word. Hyphens
and underscores mean the same. Other flags are Beam's (`--help_beam`).
"""


def made() -> dict[pathlib.Path, str]:
    """The generated files, by path."""
    page = "\n".join([_INTRODUCTION, *_lists()])
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
"""Types by the placeholder in the help. Thresholds are numbers or texts, all others are texts."""


def _type_of(flag: Flag) -> str:
    """The type of a keyword."""
    if flag.name == "metrics":
        return "Sequence[Any]"
    if not flag.metavar:
        return "bool"
    kind = "float | str" if "=]" in flag.metavar else _NUMBERS.get(flag.metavar, "str")
    has_several = flag.is_many or flag.metavar.endswith(",...")
    return f"{kind} | Sequence[{kind}]" if has_several else kind


def _lists() -> Iterator[str]:
    for title, flags in GROUPS.items():
        yield f"## {title[0].upper()}{title[1:]}\n"
        yield "".join(f"- {_spellings(flag)}: {flag.described}\n" for flag in flags)


def _spellings(flag: Flag) -> str:
    value = f" {flag.metavar}" if flag.metavar else ""
    value += " ..." if flag.nargs in ("+", "*") else ""
    words = list(flag.words) or [""]
    words[-1] = f"{words[-1]}{value}".strip()
    return " ".join(map(code, words))

r"""The tables of a result as LaTeX, for `\input` in a document of any class.

Only commands of LaTeX itself and of booktabs are used; without booktabs, lines stand in for its
rules. A document that pdfLaTeX reads must compile whatever the names of systems and labels are.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from beam_bleu.pipeline.display.fitted_rows import narrower
from beam_bleu.pipeline.display.paper_tables import Cell, Note, Number, PaperTable, is_numeric
from beam_bleu.pipeline.display.printable import printable

_PREAMBLE = (
    r"% \usepackage{booktabs} draws better lines.",
    *(rf"\providecommand{{\{rule}}}{{\hline}}" for rule in ("toprule", "midrule", "bottomrule")),
)

_OTHER_SCRIPTS = (
    "% pdfLaTeX shows the code points of characters that it does not know. XeLaTeX and LuaLaTeX",
    "% show the characters, if the font has them.",
    r"\providecommand{\beambleutext}[2]{\ifdefined\Umathchar#1\else#2\fi}",
)
r"""Only the other two engines define \Umathchar. pdfLaTeX skips what it cannot show."""

_WIDEST_NAME = 40
"""Longer names are cut. TeX cannot even measure a line of 16,384 points."""

_LONGEST_SENTENCE = 300
"""Longer sentences have a long name in their middle, which is cut. TeX reads no endless lines."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # babel reads it as a command in some languages
    "[": "{[}",  # at the start of a row it would be an option of the row before it, and so would *
    "*": "{*}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"±": r"$\pm$", "↓": r"$\downarrow$", "–": "--", "…": r"\ldots{}"},
}
"""What LaTeX would read as a command, or print as another character."""

_ESCAPED = re.compile(
    rf"""(?P<joined>([`',-])(?=\2)|[?!](?=`))  # with the next sign it would be one character
    |(?P<space>(?<=[ ])[ ]|^[ ]|[ ]$)          # TeX would leave it out
    |(?P<special>[{re.escape("".join(_SPECIAL))}])
    |(?P<others>[^\x00-\x7f{"".join(_SPECIAL)}]+)""",
    re.VERBOSE,
)

_ACCENTS = {*"\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"}
"""The accents that TeX's first fonts can put on a letter."""

_LAST_WITH_ACCENT = "ž"
"""LaTeX knows few of the letters after it."""

_LETTERS = {*"ÆØßæøıŁłŒœ"}
"""Letters without such accents that these fonts have."""


def latex(tables: Iterable[PaperTable], remarks: Sequence[str]) -> str:
    """The tables as floats.

    Args:
      tables: the tables.
      remarks: lines about the result, which become comments.
    """
    lines = [
        line for number, table in enumerate(tables, 1) for line in ("", *_float(table, number))
    ]
    comments = [f"% {printable(remark)}" for remark in remarks]
    has_others = any(r"\beambleutext" in line for line in lines)
    head = [*comments, *_PREAMBLE, *(_OTHER_SCRIPTS if has_others else ())]
    return "".join(f"{line}\n" for line in (*head, *lines))


def _float(table: PaperTable, number: int) -> Iterator[str]:
    kinds = ["r" if is_numeric(column) else "l" for column in table.columns]
    names, *others = table.columns
    columns = [_short(names), *others]
    yield r"\begin{table}"
    yield r"\centering"
    yield rf"\begin{{tabular}}{{{''.join(kinds)}}}"
    yield r"\toprule"
    yield _row(map(_name, _short(table.header)))
    yield r"\midrule"
    yield from map(_row, zip(*map(_column, columns), strict=True))
    yield r"\bottomrule"
    yield r"\end{tabular}"
    if table.notes:
        yield r"\par\smallskip"
        yield r"{\footnotesize\raggedright"
        yield from map(_note, table.notes)
        yield "}"
    yield rf"\caption{{{' '.join(map(_sentence, table.caption))}}}"
    yield rf"\label{{tab:scores{'' if number == 1 else f'-{number}'}}}"
    yield r"\end{table}"


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _note(note: Note) -> str:
    name, sacrebleu, signature = note
    signatures = [f"sacreBLEU {_typewriter(sacrebleu)}"] if sacrebleu else []
    signatures.append(f"beam-bleu {_typewriter(signature)}")
    return rf"{_flowing(name)}: {'; '.join(signatures)}\par"


def _typewriter(signature: str) -> str:
    return rf"\texttt{{{_flowing(signature)}}}"


def _column(cells: Sequence[Cell]) -> list[str]:
    """The cells of a column, with room where others have more, so that digits are aligned."""
    numbers = [cell for cell in cells if isinstance(cell, Number)]
    half = max((number.half for number in numbers), key=len, default="")
    mark = max((number.mark for number in numbers), key=len, default="")
    return [
        _number(cell, half, mark) if isinstance(cell, Number) else _name(cell) for cell in cells
    ]


def _number(number: Number, widest_half: str, widest_mark: str) -> str:
    text = _signed(number.text)
    text = rf"\textbf{{{text}}}" if number.is_best else text
    if number.half:
        digits = "0" * (len(widest_half) - len(number.half))
        text += _half((rf"\phantom{{{digits}}}" if digits else "") + number.half)
    elif widest_half and (widest_mark or number.text):
        text += rf"\phantom{{{_half(widest_half)}}}"
    if widest_mark and number.mark == widest_mark:
        return text + _superscript(number.mark)
    room = rf"\phantom{{{_superscript(widest_mark)}}}" if widest_mark else ""
    return text + (rf"\rlap{{{_superscript(number.mark)}}}" if number.mark else "") + room


def _half(digits: str) -> str:
    return rf"\,{{\scriptsize$\pm$\,{digits}}}"


def _superscript(mark: str) -> str:
    return f"$^{{{mark}}}$" if "*" in mark else rf"\textsuperscript{{{_text(mark)}}}"


def _signed(number: str) -> str:
    """A number, or two of them with words between them, with true signs."""
    return re.sub("[-+<]", lambda sign: f"${sign[0]}$", number).replace("–", "--")


def _short(names: Sequence[Cell]) -> list[str]:
    """Names that are not too wide and look different; they can have line breaks."""
    return narrower([printable(str(name)) for name in names], _WIDEST_NAME)


def _name(name: str) -> str:
    lines = [_text(line) for line in name.split("\n")]
    stacked = r"\\".join(lines)
    return lines[0] if len(lines) == 1 else rf"\shortstack[l]{{{stacked}}}"


def _sentence(text: str) -> str:
    return _flowing(narrower([printable(text)], _LONGEST_SENTENCE)[0])


def _flowing(text: str) -> str:
    """A text of several lines. They can end in long words, too, and after the signs "|"."""
    words = (
        re.findall(rf"[^|]{{1,{_WIDEST_NAME}}}\|?|\|", printable(word)) for word in text.split(" ")
    )
    escaped = " ".join(r"\allowbreak{}".join(map(_text, pieces)) for pieces in words)
    return escaped.replace(r"\textbar{}\allowbreak{}", r"\textbar\allowbreak ")


def _text(text: str) -> str:
    """A text that LaTeX prints as it is."""
    return _ESCAPED.sub(_escaped, printable(text))


def _escaped(match: re.Match[str]) -> str:
    text = match[0]
    if match["joined"]:
        return f"{text}{{}}"
    if match["space"]:
        return "\\ "
    if match["special"]:
        return _SPECIAL[text]
    parts = itertools.groupby(unicodedata.normalize("NFC", text), key=_is_in_first_fonts)
    return "".join(
        "".join(part) if is_known else _of_other_scripts("".join(part)) for is_known, part in parts
    )


def _is_in_first_fonts(character: str) -> bool:
    if character > _LAST_WITH_ACCENT:
        return False
    decomposed = unicodedata.normalize("NFD", character)
    return character in _LETTERS or (len(decomposed) == 2 and decomposed[1] in _ACCENTS)


def _of_other_scripts(text: str) -> str:
    points = " ".join(f"U+{ord(character):04X}" for character in text)
    return rf"\beambleutext{{{text}}}{{{points}}}"

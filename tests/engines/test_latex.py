"""The tables of --format latex compile, in a plain article and whatever their names are."""

from __future__ import annotations

import subprocess

import pytest
from engine_parts import need
from shown_tables import EVIDENCE, document

from beam_bleu.pipeline.command_line.output_flags import DisplayFlags
from beam_bleu.pipeline.result.document import document_bytes, read_result

ASCII = [chr(code) for code in range(0x20, 0x7F)]
NAMES = [
    "".join(character * 3 for character in ASCII if not character.isalnum()),
    *("\\end{document}", "\\input{/etc/passwd}", "^^41^^M", "#1", "%", "$x", "?`!`", "a  b", " a "),
    *("Übersetzung ñ ž ø ß", "\u202eabc\u2066", "\x1b[31m", "a\nb", "\udc80", "–—…", "n" * 500),
    *("{", "}", "\\", "-", "*", "[2ex]", "&&", "\\\\"),
]

ARTICLE = r"""\documentclass{article}
%s
\begin{document}
\input{scores}
\end{document}
"""


def hostile(names):
    """A result with these names of systems, labels and slices."""
    found = document(names, *EVIDENCE, "--compare_presets")
    slices = {"news": {names[0]: names[-1]}, None: {names[0]: names[1]}}
    for key in ("scores", "comparisons"):
        found[key] = [
            {**entry, "slice": entry["slice"] and slices[entry["slice"]["domain"]]}
            for entry in found[key]
            if not entry["slice"] or entry["slice"]["domain"] in slices
        ]
    return found


def latex(document):
    shown = DisplayFlags(format="latex").shown(
        document_bytes(document), read_result(document), ("a % remark",)
    )
    return shown.decode()


@pytest.mark.engines
@pytest.mark.parametrize("packages", ["", r"\usepackage{booktabs}"])
def test_a_result_with_hostile_names_compiles(packages, tmp_path):
    need("latex")
    # A page has room for some 40 rows.
    chunks = [NAMES[first : first + 18] for first in range(0, len(NAMES), 18)]
    text = "\\clearpage\n".join(latex(hostile(chunk)) for chunk in chunks)
    compiled(text, packages, tmp_path)


@pytest.mark.engines
def test_no_table_is_wider_than_the_text(tmp_path):
    need("latex")
    names = ["online-A", "LIUM-NMT", "PROMT-Rule-based", "nllb-200-distilled-600M", "R&D|5-shot"]
    for place, flags in enumerate((EVIDENCE, ["--compare=all"])):
        folder = tmp_path / str(place)
        folder.mkdir()
        found = document(names, "--metrics", "bleu", "chrf", "ter", "wer", "cer", *flags)
        log = compiled(latex(found), "", folder)
        assert "Overfull" not in log
        assert "too large" not in log


def compiled(text, packages, folder):
    """What pdflatex says of an article with this text."""
    (folder / "scores.tex").write_text(text, encoding="utf-8")
    (folder / "paper.tex").write_text(ARTICLE % packages)
    command = ("pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex")
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "paper.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Output written on paper.pdf" in log
    return log

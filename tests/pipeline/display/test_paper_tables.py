"""`--format markdown` and `--format latex`: a table of systems by metrics for a paper or a page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from command_line import EXAMPLE, SYSTEMS, called
from shown_tables import PRESETS, as_entries, document, with_evidence

from beam_bleu.pipeline.command_line.output_flags import Display
from beam_bleu.pipeline.result.document import document_bytes


def shown(format: str, document: dict[str, Any], remarks: tuple[str, ...] = (), decimals: int = 1):
    data = document_bytes({"segments": 2000, **document})
    return Display(format, decimals=decimals).shown(data, remarks).decode()


def markdown(document: dict[str, Any]) -> str:
    return shown("markdown", document)


MARKDOWN = r"""a \*remark\*

Scores on 2000 segments. Best scores are bold.

| system     | BLEU     |
| ---------- | -------: |
| a\|\$b     | 20.0     |
| \<東\_京\> | **27.0** |

- BLEU: beam-bleu `nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:beam-bleu-1.2.3`

BLEU by several definitions.

| preset  | a\|\$b | \<東\_京\> |
| ------- | -----: | ---------: |
| preset0 | 20.0   | 69.0       |
| preset1 | 27.0   | 76.0       |

- preset0: beam-bleu `nrefs:2|case:mixed|eff:no|tok:13a|smooth:method0|version:beam-bleu-1.2.3`
- preset1: beam-bleu `nrefs:2|case:mixed|eff:no|tok:13a|smooth:method1|version:beam-bleu-1.2.3`
"""

LATEX = r"""% a *remark*
% \usepackage{booktabs} draws better lines.
\providecommand{\toprule}{\hline}
\providecommand{\midrule}{\hline}
\providecommand{\bottomrule}{\hline}

\begin{table}
\centering
\begin{tabular}{lr}
\toprule
system & BLEU \\
\midrule
{[}50\%] & 20.0 \\
a-{}-b\_\textasciitilde{}\textbackslash{}\{x\} & \textbf{27.0} \\
\bottomrule
\end{tabular}
\par\smallskip
{\footnotesize\raggedright
BLEU: beam-bleu \texttt{nrefs:2\textbar\allowbreak case:mixed\textbar\allowbreak eff:no\textbar\allowbreak tok:13a\textbar\allowbreak smooth:exp\textbar\allowbreak version:beam-bleu-1.2.3}\par
}
\caption{Scores on 2000 segments. Best scores are bold.}
\label{tab:scores}
\end{table}
"""  # noqa: E501


def test_the_whole_text():
    found = document(["a|$b", "<東_京>"], PRESETS[:2])
    assert shown("markdown", found, ("a *remark*",)) == MARKDOWN
    found = document(["[50%]", r"a--b_~\{x}"])
    assert shown("latex", found, ("a *remark*",)) == LATEX


@pytest.fixture(scope="module")
def example() -> list[str]:
    """Lines of the table of the example, by three metrics."""
    metrics = ("-m", "bleu", "ter", "exact_match")
    return called(*EXAMPLE, *metrics, "-f", "latex").out.decode().splitlines()


def test_the_best_score_is_bold_and_ties_are_all_bold(example):
    bold = {}
    for line in example:
        name, *cells = line.removesuffix(r" \\").split(" & ")
        if name in SYSTEMS:
            bold[name] = [cell.startswith(r"\textbf{") for cell in cells]
    # Lower is better for TER, and no candidate equals its reference.
    assert bold == {
        "atlas": [True, True, True],
        "birch": [False, False, True],
        "cobalt": [False, False, True],
    }


def test_scores_that_look_the_same_are_ties():
    found = document(["a", "b", "c"])
    for entry, score in zip(found["scores"], (27.04, 27.01, 26.94), strict=True):
        entry["score"] = score
    assert re.findall(r"\*\*(.*?)\*\*", markdown(found)) == ["27.0", "27.0"]
    assert re.findall(r"\*\*(.*?)\*\*", shown("markdown", found, decimals=2)) == ["27.04"]
    assert "**" not in markdown(document(["a"]))


def test_the_caption_says_what_superscripts_mean(example):
    (caption,) = (line for line in example if line.startswith(r"\caption"))
    assert caption.startswith(r"\caption{Scores on 72 segments. $\pm$ is half of the 95 \% inter")
    assert (
        "significantly different from atlas ({*}{*}{*} p $<$ 0.001; p adjusted by Holm for 2 "
        "comparisons of each metric)."
    ) in caption
    (row,) = (line for line in example if line.startswith("birch & "))
    assert row.startswith(r"birch & 37.9\,{\scriptsize$\pm$\,4.1}$^{***}$ & ")


def test_both_signatures_stand_beside_each_other(example):
    assert [line.count("version:") for line in example if line.startswith("BLEU: ")] == [2]
    (note,) = (line for line in example if line.startswith("BLEU: "))
    assert note.index("version:2.6.0") < note.index("version:beam-bleu-")
    # sacreBLEU has no exact match.
    (note,) = (line for line in example if line.startswith("exact match: "))
    assert note.startswith(r"exact match: beam-bleu \texttt{nrefs:2")


@pytest.mark.parametrize(
    ("p", "mark", "meaning"),
    [
        (0.0009, "***", r"different from atlas (\*\*\* p \< 0.001)."),
        (0.001, "**", r"different from atlas (\*\* p \< 0.01)."),
        (0.049, "*", r"different from atlas (\* p \< 0.05)."),
        (0.05, "", r"No difference from atlas is significant (p \< 0.05)."),
        (None, "", "Best scores are bold.\n"),
    ],
)
def test_stars_follow_the_adjusted_p_value(p, mark, meaning):
    found = with_evidence(document(["atlas", "birch"]))
    del found["resampling"], found["clusters"]
    found["comparisons"] = found["comparisons"][:1]
    found["comparisons"][0] |= {"p_value": 0.0001, "p_value_holm": p}
    found["scores"] = found["scores"][:2]
    text = markdown(found)
    assert meaning in text
    escaped = mark.replace("*", r"\*")
    sup = f"<sup>{escaped}</sup>" if mark else ""
    assert f"| birch  | **27.0** ± 5.8{sup} |" in text


def test_a_system_without_a_p_value_is_said_not_to_be_tested():
    found = with_evidence(document(["atlas", "birch", "cobalt"]))
    del found["resampling"], found["clusters"]
    found["comparisons"] = found["comparisons"][:2]
    found["comparisons"][1] |= {"p_value": None, "p_value_holm": None, "segments": 1999}
    text = markdown(found)
    assert "Not tested: BLEU of cobalt." in text
    found["comparisons"][0]["segments"] = 1999
    assert "Compared on the 1999 segments that all systems have." in markdown(found)


def test_slices_are_a_second_table_with_their_own_stars():
    found = with_evidence(document(["atlas", "birch"]))
    del found["resampling"], found["clusters"]
    _, _, caption, table = markdown(found).split("\n\n")[-4:]
    assert caption.startswith("BLEU by domain. ± is half of the 95 % interval. Best scores are")
    assert caption.endswith("Slices without ± are not tested.")
    assert table.splitlines()[2:] == [
        "| news   | 20       | 20.0       | **27.0**                         |",
        r"| null   | 60       | 20.0 ± 5.8 | **27.0** ± 10.7<sup>\*\*\*</sup> |",
    ]


def test_all_pairs_are_shown_by_ranks():
    found = with_evidence(document(["atlas", "birch", "cobalt"]))
    del found["resampling"]
    found["clusters"] = as_entries([["cobalt"], ["birch", "atlas"]])
    found["comparisons"] = [
        {**found["comparisons"][0], "system": system, "baseline": baseline}
        for system, baseline in (("birch", "atlas"), ("cobalt", "atlas"), ("cobalt", "birch"))
    ]
    found["scores"] = found["scores"][:3]
    text = markdown(found)
    assert "Superscripts are ranks: a system is significantly better than each" in text
    assert re.findall(r"<sup>(.*?)</sup>", text) == ["2–3", "2–3", "1"]
    assert r"\textsuperscript{2--3}" in shown("latex", found)


def test_a_minus_is_a_true_minus_but_not_in_names():
    found = with_evidence(document(["a-1", "-2"]))
    (row,) = (
        line for line in markdown(found).splitlines() if line.startswith("| -2 ") and "+" in line
    )
    assert row.startswith("| -2     | +1.3       | +1.2 | +0.4 to +2.1")
    found["resampling"]["comparisons"][0] |= {"difference": -1.26, "interval": [-2.0, 0.1]}
    assert "| -2     | −1.3       | +1.2 | −2.0 to +0.1" in markdown(found)
    assert r"-2 & $-$1.3 & $+$1.2 & $-$2.0 to $+$0.1 &" in shown("latex", found)


def test_latex_reads_no_option_after_the_end_of_a_row():
    rows = shown("latex", document(["[2ex]", "*x", "-"])).splitlines()
    assert not [row for row in rows if re.match(r"[\[*]", row)]


def test_long_names_are_cut_and_stay_different():
    found = document([f"{'n' * 5000}-{number}" for number in range(3)])
    rows = [line for line in shown("latex", found).splitlines() if line.startswith("nnn")]
    assert len({row.split(" & ")[0] for row in rows}) == 3
    assert max(map(len, rows)) < 100

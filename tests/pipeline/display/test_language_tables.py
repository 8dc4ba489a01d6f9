"""What stdout and the metrics show of a corpus in several languages."""

from __future__ import annotations

import json

from command_line import EXAMPLES, called, write_lines

FOLDER = EXAMPLES / "languages"
ARGUMENTS = [
    FOLDER / "references.txt",
    *("--labels", f"pair={FOLDER}/pairs.txt", "--language_column", "pair"),
    *("-i", *sorted((FOLDER / "systems").iterdir())),
    "--no_uncertainty",  # there are 12 segments
]
OF_13A = "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:beam-bleu-0.1.0"
OF_ZH = OF_13A.replace("13a", "zh")


def lines(*flags: str) -> list[str]:
    run = called(*ARGUMENTS, *flags)
    assert (run.code, run.err) == (0, "")
    return run.out.decode().splitlines()


def test_the_table_has_the_tokenizers_and_the_average():
    assert lines() == [
        OF_13A.replace("|", " (de-en, en-de, zh-en)|", 1),
        OF_ZH.replace("|", " (en-zh)|", 1),
        "12 segments",
        "",
        "pair           tokenizer  segments  atlas  birch",
        "de-en          13a        2         80.7   55.8",
        "en-de          13a        4         88.4   33.9",
        "en-zh          zh         4         75.0   66.6",
        "zh-en          13a        2         60.5   73.1",
        "macro average                       76.1   57.4",
    ]


def test_tables_for_a_paper_show_the_same():
    markdown = "\n".join(lines("--format", "markdown"))
    assert markdown.startswith("Scores on 12 segments. Means of 4 languages: BLEU. Best scores")
    assert "| atlas  | **76.1** |\n| birch  | 57.4     |" in markdown
    name, _, signature = OF_ZH.partition("|")
    assert f"- {name} (en-zh): sacreBLEU `" in markdown
    assert f"; beam-bleu `{signature}`" in markdown
    assert "| en-zh         | zh        | 4        | **75.0** | 66.6     |" in markdown
    assert "| macro average |           |          | **76.1** | 57.4     |" in markdown
    latex = lines("--format", "latex")
    assert r"en-zh & zh & 4 & \textbf{75.0} & 66.6 \\" in latex
    assert r"macro average &  &  & \textbf{76.1} & 57.4 \\" in latex
    assert latex.count(r"\begin{tabular}{llrrr}") == 1


def test_entries_have_the_signatures_of_their_languages_and_averages_come_last():
    document = json.loads("\n".join(lines("--format", "json")))
    entries = [json.loads(line) for line in lines("--format", "jsonl")]
    assert entries[8:] == document["macro_average"]
    signatures = {each["slice"]["pair"]: each["signature"] for each in document["languages"]}
    for entry, score in zip(entries[:8], document["scores"], strict=True):
        assert entry == {**score, "signature": signatures[score["slice"]["pair"]]}
    header, *rows = [line.split("\t") for line in lines("--format", "tsv", "--width", "2")]
    assert header[-2:] == ["signature", "languages"]
    assert rows[-1] == [
        {"metric": "bleu", "system": "birch", "score": "57.35", "languages": "4"}.get(name, "")
        for name in header
    ]
    assert [row[-1] for row in rows[:-2]] == [""] * 8


def test_languages_with_one_tokenizer_have_a_table_of_the_whole_too(tmp_path):
    pairs = write_lines(tmp_path / "pairs", ["en-zh", "ja-zh"] * 6)
    shown = lines("--labels", f"x={pairs}", "--language_column", "x")
    assert shown[0] == OF_ZH
    assert shown[3].split()[0] == "system"
    assert shown[7].split() == ["x", "tokenizer", "segments", "atlas", "birch"]
    assert [line.split()[:2] for line in shown[8:10]] == [["en-zh", "zh"], ["ja-zh", "zh"]]

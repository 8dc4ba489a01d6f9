"""Tab-separated text and labels with the line ends of Windows in some lines, or in all."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

from case import Case
from checks import check_success
from command_line import Argument
from record_oracle import Pair, check_slices

_LANGUAGES = ["de", "en", "fr", "x y"]
_WORDS = ["a", "b", "word", "ß", "𝒳", "'", ".", "long" * 20]


def attack(case: Case) -> None:
    """Scores records, a join or text with labels; Python's csv module reads the same bytes."""
    chooser = case.random
    rows = [
        {
            "id": f"s{i}",
            "lang": chooser.choice(_LANGUAGES),
            "ref": _text(case),
            "hyp": _text(case),
        }
        for i in range(chooser.randint(8, 60))
    ]
    form = chooser.choice([_paired, _paired, _joined, _labels])
    case.what = form.__name__
    files, arguments = form(case, rows)
    if case.chance(0.6):
        arguments.append(f"--range_bytes={chooser.randint(16, 400)}")
    if case.chance(0.5):
        arguments.append(f"--threads={chooser.randint(1, 4)}")
    left_out = None
    if form is not _labels and case.chance(0.6):
        left_out = chooser.choice([*_LANGUAGES, "zz"])
        arguments.append(f"--where=lang!={left_out}")
    document = check_success(case.run(*arguments, "--slice_by=lang", "--format=json"))
    by_language: dict[str | None, list[Pair]] = {}
    for row in _joined_rows([_read(path) for path in files]):
        if row["lang"] != left_out:
            by_language.setdefault(row["lang"], []).append((row["hyp"], row["ref"]))
    check_slices(document, "lang", by_language)


def _text(case: Case) -> str:
    return " ".join(case.random.choices(_WORDS, k=case.random.randint(1, 9)))


def _paired(case: Case, rows: list[dict[str, str]]) -> tuple[list[Path], list[Argument]]:
    path = _write(case, "all", rows, ["id", "lang", "ref", "hyp"])
    return [path], ["--input", path]


def _joined(case: Case, rows: list[dict[str, str]]) -> tuple[list[Path], list[Argument]]:
    references = _write(case, "references", rows, ["id", "lang", "ref"])
    shuffled = case.random.sample(rows, len(rows))
    candidates = _write(case, "candidates", shuffled, ["id", "hyp"])
    return [references, candidates], [references, f"-i=s={candidates}", "--join_on=id"]


def _labels(case: Case, rows: list[dict[str, str]]) -> tuple[list[Path], list[Argument]]:
    texts = []
    for name in ("ref", "hyp"):
        texts.append(case.folder / f"{name}.txt")
        texts[-1].write_text("".join(f"{row[name]}\n" for row in rows), newline="\n")
    labels = case.folder / "labels"
    labels.write_bytes(_ended(case, [row["lang"] for row in rows]))
    table = case.folder / "table.tsv"  # the same for the oracle
    with table.open("w", newline="") as file:
        file.write("lang\tref\thyp\n")
        read = labels.read_text().splitlines()  # each line without its end
        file.writelines(
            f"{lang}\t{row['ref']}\t{row['hyp']}\n" for lang, row in zip(read, rows, strict=True)
        )
    return [table], [texts[0], "-i", texts[1], f"--labels=lang={labels}"]


def _write(case: Case, name: str, rows: list[dict[str, str]], columns: list[str]) -> Path:
    case.random.shuffle(columns)
    lines = ["\t".join(columns), *("\t".join(row[each] for each in columns) for row in rows)]
    data = _ended(case, lines)
    path = case.folder / f"{name}.tsv"
    if case.chance(0.3):
        path = path.with_suffix(".tsv.gz")
        data = gzip.compress(data, mtime=0)
    path.write_bytes(data)
    return path


def _ended(case: Case, lines: list[str]) -> bytes:
    windows = case.random.choice([1.0, 1.0, 0.5, 0.05])
    ended = [line + ("\r\n" if case.chance(windows) else "\n") for line in lines]
    text = "".join(ended)
    if case.chance(0.3):
        text = text.removesuffix("\n")  # a carriage return can be the last character
    return text.encode()


def _read(path: Path) -> list[dict[str, str]]:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    text = io.StringIO(data.decode(), newline="")
    return [*csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)]


def _joined_rows(tables: list[list[dict[str, str]]]) -> list[dict[str, str]]:
    first, *others = tables
    for table in others:
        by_id = {row["id"]: row for row in table}
        first = [{**row, **by_id[row["id"]]} for row in first]
    return first

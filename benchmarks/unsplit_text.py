"""Measures the sign of text that a tokenizer does not split, on real text in many languages.

Django's package has translations of its messages into about 100 languages: whole sentences and
single words, with placeholders and Latin names in them. The program shows the share of messages in
each script of the table, for each language that has any, and then those of tokenized Japanese and
Korean. It needs the extras ja and ko. Text files of other corpora can follow.

    pip download --no-deps django && python -m benchmarks.unsplit_text django-*.whl
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import struct
import zipfile
from collections.abc import Iterator, Sequence

import numpy as np
from sacrebleu.metrics import BLEU

from beam_bleu.transforms.metrics.bleu.metric import Bleu
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokenizers import SCRIPTS


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=pathlib.Path, help="Django's package, a .whl file")
    parser.add_argument("texts", nargs="*", type=pathlib.Path, help="text files, segment by line")
    arguments = parser.parse_args()
    corpora = translations(arguments.wheel)
    for path in arguments.texts:
        corpora[path.name] = path.read_text(encoding="utf-8").splitlines()
    for language, tokenizer in (("ja", "ja-mecab"), ("ko", "ko-mecab")):
        tokenize = BLEU(tokenize=tokenizer).tokenizer
        corpora[f"{language}, tokenized by {tokenizer}"] = list(map(tokenize, corpora[language]))
    print(table(corpora))


def translations(wheel: pathlib.Path) -> dict[str, list[str]]:
    """The translated messages of each language, without empty ones."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith("/LC_MESSAGES/django.mo"):
                found[name.split("/")[-3]] += filter(str.strip, messages(archive.read(name)))
    return found


def messages(data: bytes) -> Iterator[str]:
    """The translations in a .mo file of GNU gettext; of plural forms only the first one."""
    _, _, count, _, table_at = struct.unpack_from("<5I", data)
    for number in range(1, count):  # the first entry is the header
        size, at = struct.unpack_from("<2I", data, table_at + 8 * number)
        yield data[at : at + size].split(b"\0")[0].decode()


def table(corpora: dict[str, list[str]]) -> str:
    """The share of the texts of each corpus that are in a script of the table."""
    shown = [each.shown for each in SCRIPTS.values()]
    lines = [["corpus", "texts", *shown], ["---"] * (2 + len(shown))]
    without = []
    for name, texts in corpora.items():
        counts = counts_of_scripts(texts)
        if any(counts):
            shares = (f"{count / len(texts):.1%}" for count in counts)
            lines.append([name, f"{len(texts):,}", *shares])
        else:
            without.append(texts)
    total = sum(map(len, without))
    lines.append([f"{len(without)} others", f"{total:,}", *["0.0%"] * len(shown)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def counts_of_scripts(texts: Sequence[str]) -> tuple[int, ...]:
    """The texts in each script. A reference in the same script is needed: here it is the text."""
    batch = to_batch([(text, [text]) for text in texts])
    scripts = count_batch(batch, Text(), Bleu(max_ngram_order=1)).signs.scripts[0]
    return tuple(np.bincount(scripts, minlength=len(SCRIPTS) + 1)[1:].tolist())


if __name__ == "__main__":
    main()

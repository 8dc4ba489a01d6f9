"""Measures the whole command on other inputs than plain lines: .gz, records, joins, S3."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator

from benchmarks.corpus.records import FORMATS
from benchmarks.corpus.workspace import Text
from benchmarks.measure import BEAM_BLEU
from benchmarks.speed.harness import (
    Benchmark,
    Comparison,
    Contestant,
    Figure,
    Setting,
    one,
    ratio,
)
from benchmarks.speed.programs import OURS, beam_bleu

_LINES = "line-parallel"


def _compressed(setting: Setting) -> Iterator[Comparison]:
    plain, packed = setting.corpus.whole(), setting.corpus.compressed()
    yield Comparison(
        [
            beam_bleu(".gz", packed, is_compared=True),
            beam_bleu("plain text", plain, is_compared=True),
            Contestant("gzip --test", ["gzip", "--test", *packed.files], packed.pairs),
        ],
        [
            Figure(
                f"`.gz`, {packed.pairs:,} pairs, CPU against plain text",
                ratio(".gz", "plain text"),
                most=1.35,
            ),
            Figure("`gzip --test` alone", ratio("gzip --test", "plain text")),
        ],
    )


def _records(setting: Setting) -> Iterator[Comparison]:
    text, folder = setting.corpus.whole(), setting.corpus.records()
    lines = beam_bleu(_LINES, text, is_compared=True)
    records = [
        dataclasses.replace(
            lines,
            name=name,
            command=[*BEAM_BLEU, f"--input={folder}/pairs-*.{name}", "--format=json"],
        )
        for name in FORMATS
    ]
    yield Comparison(
        [lines, *records],
        [
            Figure(
                f"{name}, {text.pairs:,} pairs, pairs/s on all cores, against {_LINES} text",
                ratio(_LINES, name, "wall"),
                least=0.6 if name == "jsonl" else 0.8,
            )
            for name in FORMATS
        ],
    )


def _joins(setting: Setting) -> Iterator[Comparison]:
    folder, pairs = setting.corpus.records(), setting.corpus.pairs

    def of(suffix: str) -> Text:
        first, second, references = (
            f"{folder}/{name}.{suffix}" for name in ("first", "second", "references")
        )
        return Text(pairs, (references,), (first, second))

    joined = [
        beam_bleu(f"joined, {suffix}", of(suffix), "--join_on=id", is_compared=True)
        for suffix in ("parquet", "jsonl")
    ]
    figures = []
    for each in joined:
        what = f"{each.name}, 2 systems, {pairs:,} segments"
        figures += [
            Figure(f"{what}, CPU against {_LINES} text", ratio(each.name, _LINES)),
            Figure(f"{what}, memory", one(each.name, "peak", 1e-6), most=1_000, unit=" MB"),
        ]
    yield Comparison([beam_bleu(_LINES, of("txt"), is_compared=True), *joined], figures)


def _storage(setting: Setting) -> Iterator[Comparison]:
    import obstore

    from deploy.local.engines import OBJECT_STORES

    store = setting.stack.enter_context(OBJECT_STORES["s3"](setting.folder))
    client, root = store.client(), f"s3://{store.bucket}"
    for name, text in (
        ("10 shards", setting.corpus.whole()),
        ("one file", setting.corpus.head(setting.corpus.pairs)),
    ):
        for path in text.files:
            obstore.put(client, path.lstrip("/"), pathlib.Path(path))
        (references,), (candidates,) = text.references, text.candidates
        stored = Text(text.pairs, (root + references,), (root + candidates,))
        yield Comparison(
            [
                beam_bleu("S3", stored, *store.flags(), is_compared=True),
                beam_bleu(OURS, text, is_compared=True),
            ],
            [
                Figure(
                    f"S3 on the same machine, {name}, {text.pairs:,} pairs, CPU against local",
                    ratio("S3", OURS),
                ),
                Figure("the same, wall", ratio("S3", OURS, "wall")),
            ],
        )


BENCHMARKS: dict[str, Benchmark] = {
    "compressed": _compressed,
    "records": _records,
    "joins": _joins,
    "storage": _storage,
}

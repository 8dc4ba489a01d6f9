"""Measures reading from an S3 server on this machine against reading local files.

    python -m benchmarks.speed.storage --output benchmarks/speed/storage/RESULTS.md

The server and the command share the cores, so the wall time contains the server's work.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import glob
import os
import pathlib
import tempfile

import obstore

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.machine import machine
from benchmarks.measure import BEAM_BLEU, Run, interleaved, medians, run
from benchmarks.program import add_corpus_flags, add_output_flag, command_parser, publish
from deploy.local.engines import s3_server
from deploy.local.object_stores import ObjectStore

_PAIRS = 400_000
_DISTRIBUTIONS = ("apache-beam", "numba", "obstore", "pyarrow")
_TICKS = os.sysconf("SC_CLK_TCK")


def _main() -> None:
    flags = _parser().parse_args()
    workspace = Workspace(flags.work_dir, flags.pairs)
    texts = {"10 shards": workspace.whole(), "one file": workspace.head(flags.pairs)}
    load = os.getloadavg()[0]
    rows = []
    with (
        tempfile.TemporaryDirectory(dir=flags.work_dir) as folder,
        s3_server(pathlib.Path(folder)) as store,
    ):
        for name, text in texts.items():
            stored = _stored(text, store)
            before = _server_cpu(store)
            here, there = interleaved(
                [
                    functools.partial(run, [*BEAM_BLEU, *text.arguments]),
                    functools.partial(run, [*BEAM_BLEU, *stored.arguments, *store.flags()]),
                ],
                flags.times,
                warm_up=True,
            )
            server = (_server_cpu(store) - before) / (flags.times + 1)
            if here[-1].stdout != there[-1].stdout:
                raise RuntimeError("the results differ")
            rows += _rows(name, text, medians(here), medians(there), server)
    publish(
        f"# Results\n\n{machine(_DISTRIBUTIONS)} {datetime.date.today()}; load {load:.1f} before, "
        f"{os.getloadavg()[0]:.1f} after. {flags.pairs:,} pairs; medians of {flags.times} runs, "
        "in turn.\n\n"
        "| text | read from | CPU s | CPU s of the server | wall s | pairs/s | peak MB |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n" + "\n".join(rows) + "\n",
        flags.output,
    )


def _rows(name: str, text: Text, here: Run, there: Run, server: float) -> list[str]:
    shown = [
        f"| {name} | {place} | {each.cpu:.2f} | {of_server} | {each.wall:.2f} "
        f"| {text.pairs / each.wall:,.0f} | {each.peak / 1e6:.0f} |"
        for place, each, of_server in [("local files", here, ""), ("S3", there, f"{server:.2f}")]
    ]
    cpu, wall = there.cpu / here.cpu, there.wall / here.wall
    speed = here.wall / there.wall
    return [*shown, f"| {name} | S3 against local | {cpu:.2f}x | | {wall:.2f}x | {speed:.2f}x | |"]


def _stored(text: Text, store: ObjectStore) -> Text:
    """The same text in the store."""
    client = store.client()
    root = f"s3://{store.bucket}"
    for pattern in text.patterns:
        for path in glob.glob(pattern):
            obstore.put(client, path.lstrip("/"), pathlib.Path(path))
    return Text(text.pairs, root + text.references, tuple(root + each for each in text.candidates))


def _server_cpu(store: ObjectStore) -> float:
    """The CPU seconds that the server has used."""
    text = pathlib.Path(f"/proc/{store.processes.pid('versitygw')}/stat").read_text()
    user, system = text.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / _TICKS


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "Measures reading from an S3 server on this machine against local files."
    )
    add_corpus_flags(parser)
    parser.set_defaults(pairs=_PAIRS)
    parser.add_argument(
        "--times", type=int, default=5, metavar="N", help="runs of each kind, default %(default)s"
    )
    add_output_flag(parser)
    return parser


if __name__ == "__main__":
    _main()

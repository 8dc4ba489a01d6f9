"""Runs the command in tests: as a user types it or, because it is faster, in this process."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import gc
import io
import itertools
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import quicker_beam
from compressing import COMPRESS
from sacrebleu.metrics import BLEU

from beam_bleu.pipeline.main import main
from beam_bleu.transforms.progress import COMPILING, Phase

quicker_beam.remember()

PROJECT = Path(__file__).resolve().parents[1]
EXAMPLES = PROJECT / "examples"
REFERENCES = [EXAMPLES / "references" / name for name in ("a.txt", "b.txt")]
SYSTEMS = {name: EXAMPLES / "systems" / f"{name}.txt" for name in ("atlas", "birch", "cobalt")}

COMMAND = [sys.executable, "-m", "beam_bleu.pipeline"]

BEFORE_BEAM = "import logging; logging.getLogger().addHandler(logging.NullHandler())\n"
"""The first line of a program that imports Beam before it calls the command, to change something.

Beam logs which libraries are not installed when it is imported. The command leaves that out of its
log, which it makes in place of this one.
"""

Argument = str | bytes | Path


def write_texts_of_a_day(folder: Path) -> Path:
    """Copies the example into a new folder, as the texts of a day that a scheduled job scores."""
    for name, files in (("systems", SYSTEMS.values()), ("references", REFERENCES)):
        (folder / name).mkdir(parents=True)
        for file in files:
            shutil.copy(file, folder / name)
    (folder / "_SUCCESS").touch()
    return folder


_PROGRESS = re.compile(
    rf"^\d{{4}}-\d\d-\d\dT\S+ beam-bleu: (({'|'.join(get_args(Phase))}) .*|{COMPILING})\n", re.M
)


@dataclasses.dataclass(frozen=True)
class Run:
    """How a run of the command ended."""

    code: int
    out: bytes
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The result document that `--format json` printed."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def signature(self) -> str:
        """The signature of the only metric."""
        (metric,) = self.document["metrics"]
        return metric["signature"]

    def assert_failed(self, code: int, *fragments: str) -> None:
        """Checks the exit code, the cause and the remedy, and that stdout is empty."""
        assert self.code == code, self.err
        assert self.out == b""
        lines = "\n".join(self.err.splitlines())
        assert re.fullmatch(r"beam-bleu: .+\n  .*\S.*", lines), self.err
        for fragment in fragments:
            assert fragment in self.err


@contextlib.contextmanager
def signals_begin_as(handler: signal.Handlers, *numbers: signal.Signals) -> Iterator[None]:
    """Processes that the body starts begin with these signals ignored, or not.

    Otherwise they inherit what the tests have: nohup ignores SIGHUP, and a shell ignores SIGINT for
    what it runs in the background. The argument preexec_fn of subprocess could set them, too, but
    then a process that has threads of gRPC can crash before it runs the command.
    """
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, of_tests in before.items():
            signal.signal(number, of_tests or signal.SIG_DFL)


def typed(*arguments: Argument, timeout: float = 120) -> Run:
    """Runs the command in a separate process, in the project's folder."""
    process = subprocess.run(
        [*COMMAND, *arguments], cwd=PROJECT, capture_output=True, timeout=timeout
    )
    return Run(process.returncode, process.stdout, _said(process.stderr.decode(), arguments))


def called(*arguments: Argument) -> Run:
    """Runs the command in this process, which saves a second of imports."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with _process_kept(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([os.fsdecode(argument) for argument in arguments])
        except SystemExit as ended:  # --help and --preset list end the process
            code = int(ended.code or 0)
    out.flush()
    return Run(code, out.buffer.getvalue(), _said(err.getvalue(), arguments))


def without_progress(err: str) -> str:
    """What a run wrote to stderr, without its progress, which only a slow or a first run shows."""
    return _PROGRESS.sub("", err)


def _said(err: str, arguments: Sequence[Argument]) -> str:
    """What a run wrote to stderr; its progress only if the test asked for it."""
    asked = any(os.fsdecode(argument).startswith("--progress") for argument in arguments)
    return err if asked else without_progress(err)


def _unfrozen() -> None:
    """In place of `gc.freeze`, after which a pipeline is never freed.

    If everything was unfrozen after each run, the pipelines would be old garbage, which Python
    collects so rarely that the tests took gigabytes.
    """


@contextlib.contextmanager
def _process_kept() -> Iterator[None]:
    """Undoes the changes that the command makes to its process, because it is pytest's process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    with mock.patch.object(gc, "freeze", _unfrozen), quicker_beam.without_reports():
        try:
            yield
        finally:
            root.handlers = handlers
            root.setLevel(level)
            gc.enable()


def streams(
    candidates: Sequence[Argument], references: Sequence[Argument], *flags: Argument
) -> list[Argument]:
    """The arguments for these streams, with more flags."""
    named = [("--candidates", each) for each in candidates]
    named += [("--references", each) for each in references]
    return [*itertools.chain.from_iterable(named), *flags]


EXAMPLE = streams([*SYSTEMS.values()], REFERENCES)


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    """Writes a text file, compressed as its suffix says."""
    suffix = path.suffix if path.suffix in COMPRESS else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(COMPRESS[suffix]("".join(f"{line}\n" for line in lines).encode()))
    return path


def write_records(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Writes records in the format of the path's suffix. Tab-separated text has a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=20)
        return path
    if path.suffix in (".arrow", ".arrows"):
        table = pa.Table.from_pylist(rows)
        new = pa.ipc.new_file if path.suffix == ".arrow" else pa.ipc.new_stream
        with new(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=20)
        return path
    if ".jsonl" in path.name:
        return write_lines(path, [json.dumps(row, ensure_ascii=False) for row in rows])
    fields = [[*rows[0]], *(map(str, row.values()) for row in rows)]
    if ".csv" not in path.name:
        return write_lines(path, ["\t".join(of_row) for of_row in fields])
    text = io.StringIO()
    csv.writer(text).writerows(fields)
    return write_lines(path, text.getvalue().splitlines())


def read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def assert_equals_sacrebleu(
    document: dict[str, Any],
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    **choices: Any,
) -> None:
    """Checks that the document has sacreBLEU's numbers for each system, to the last bit."""
    bleu = BLEU(force=True, references=references, **choices)  # it cuts them into n-grams once
    # sacreBLEU's add-k changes the counts that it returns; these are the ones before smoothing.
    counting = BLEU(force=True, **{**choices, "smooth_method": "none", "smooth_value": None})
    assert len(document["scores"]) == len(candidates)
    for result, candidate in zip(document["scores"], candidates, strict=True):
        expected = bleu.corpus_score(candidate, None)
        counts = expected
        if choices.get("smooth_method") == "add-k":
            counts = counting.corpus_score(candidate, references)
        for name in ("score", "precisions", "bp", "ratio", "sys_len", "ref_len"):
            assert result[name] == getattr(expected, name), name
        assert (result["matches"], result["totals"]) == (counts.counts, counts.totals)
        assert result["segments"] == len(candidate)
    assert document["segments"] == len(references[0])

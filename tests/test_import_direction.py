"""Imports go one way: the maths without Beam, the library without the application."""

import ast
import pathlib
import subprocess
import sys

import pytest

import beam_bleu.transforms

PROJECT = pathlib.Path(beam_bleu.transforms.__file__).parent.parent
BEAM_FREE = [
    "beam_bleu.transforms",
    "beam_bleu.transforms.pairing.batch",
    "beam_bleu.transforms.native.columns",
    "beam_bleu.transforms.definition.config",
    "beam_bleu.transforms.errors",
    "beam_bleu.transforms.pairing.line_parallel.corpus",
    "beam_bleu.transforms.pairing.line_parallel.correspondence",
    "beam_bleu.transforms.pairing.line_parallel.decompression",
    "beam_bleu.transforms.pairing.line_parallel.chunks",
    "beam_bleu.transforms.pairing.line_parallel.counting",
    "beam_bleu.transforms.pairing.line_parallel.lines",
    "beam_bleu.transforms.pairing.line_parallel.nul_bytes",
    "beam_bleu.transforms.pairing.line_parallel.plan",
    "beam_bleu.transforms.pairing.records.rows",
    "beam_bleu.transforms.pairing.records.segments",
    "beam_bleu.transforms.pairing.line_parallel.shard_names",
    "beam_bleu.transforms.pairing.line_parallel.shard_notes",
    "beam_bleu.transforms.pairing.line_parallel.shards",
    "beam_bleu.transforms.pairing.line_parallel.streams",
    "beam_bleu.transforms.definition.presets",
    "beam_bleu.transforms.printable",
    "beam_bleu.transforms.score.bleu",
    "beam_bleu.transforms.score.formula",
    "beam_bleu.transforms.score.segment_scores",
    "beam_bleu.transforms.score.signature",
    "beam_bleu.transforms.score.suspicious_input",
    "beam_bleu.transforms.statistics.kernel",
    "beam_bleu.transforms.statistics.library_tokenizers",
    "beam_bleu.transforms.statistics.segment_statistics",
    "beam_bleu.transforms.statistics.signs",
    "beam_bleu.transforms.statistics.versions",
    "beam_bleu.transforms.totals.corpus_totals",
    "beam_bleu.transforms.totals.input_signs",
    "beam_bleu.pipeline.document",
    "beam_bleu.pipeline.job",
    "beam_bleu.pipeline.names",
    "beam_bleu.pipeline.parser",
    "beam_bleu.pipeline.presets_table",
    "beam_bleu.pipeline.table",
    "beam_bleu.pipeline.terminal",
]


def in_a_fresh_interpreter(program):
    """What a program prints, run where this project is the current folder."""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def imported_by(source):
    """The modules that a source file imports, anywhere in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_the_maths_does_not_import_beam():
    imports = "\n".join(
        f"import {module}\nif 'apache_beam' in sys.modules: print('{module}'); sys.exit()"
        for module in BEAM_FREE
    )
    assert in_a_fresh_interpreter(f"import sys\n{imports}") == []


def test_the_check_finds_that_wiring_imports_beam():
    # Otherwise the test above could not fail.
    program = (
        "import sys, beam_bleu.transforms.totals.sum_totals; print('apache_beam' in sys.modules)"
    )
    assert in_a_fresh_interpreter(program) == ["True"]


def test_the_library_never_imports_the_application():
    files = sorted(PROJECT.glob("transforms/**/*.py"))
    imports = {(file.name, module) for file in files for module in imported_by(file.read_text())}
    assert ("corpus_bleu.py", "beam_bleu.transforms.definition.config") in imports
    assert [
        (file, module)
        for file, module in sorted(imports)
        if module.startswith("beam_bleu.pipeline") or module.startswith(".")
    ] == []


def test_the_public_names_come_from_the_top_of_the_package():
    names = ["BleuConfig", "BleuScore", "CorpusBleu", "SentencePieceModel", "preset"]
    imported = ", ".join(names)
    program = (
        f"from beam_bleu.transforms import {imported}\n"
        f"print(*(each.__name__ for each in ({imported})))"
    )
    assert in_a_fresh_interpreter(program) == names
    assert beam_bleu.transforms.__all__ == names


def test_a_name_that_the_package_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"transforms' has no attribute 'CorpusBlue'"):
        _ = beam_bleu.transforms.CorpusBlue

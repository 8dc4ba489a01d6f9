"""Imports go one way: the maths without Beam, the library without the application."""

import ast
import pathlib
import subprocess
import sys

import pytest

import transforms

PROJECT = pathlib.Path(transforms.__file__).parent.parent
BEAM_FREE = [
    "transforms",
    "transforms.batch",
    "transforms.columns",
    "transforms.config",
    "transforms.errors",
    "transforms.pairing.corpus",
    "transforms.pairing.correspondence",
    "transforms.pairing.decompression",
    "transforms.pairing.chunks",
    "transforms.pairing.counting",
    "transforms.pairing.lines",
    "transforms.pairing.nul_bytes",
    "transforms.pairing.plan",
    "transforms.pairing.rows",
    "transforms.pairing.segments",
    "transforms.pairing.shard_names",
    "transforms.pairing.shard_notes",
    "transforms.pairing.shards",
    "transforms.pairing.streams",
    "transforms.presets",
    "transforms.printable",
    "transforms.score.bleu",
    "transforms.score.formula",
    "transforms.score.segment_scores",
    "transforms.score.signature",
    "transforms.score.suspicious_input",
    "transforms.statistics.kernel",
    "transforms.statistics.library_tokenizers",
    "transforms.statistics.segment_statistics",
    "transforms.statistics.signs",
    "transforms.statistics.versions",
    "transforms.totals.corpus_totals",
    "transforms.totals.input_signs",
    "pipeline.document",
    "pipeline.job",
    "pipeline.names",
    "pipeline.parser",
    "pipeline.presets_table",
    "pipeline.table",
    "pipeline.terminal",
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


def test_a_program_sees_that_wiring_imports_beam():
    # Otherwise the test above could not fail.
    program = "import sys, transforms.totals.sum_totals; print('apache_beam' in sys.modules)"
    assert in_a_fresh_interpreter(program) == ["True"]


def test_the_library_never_imports_the_application():
    files = sorted(PROJECT.glob("transforms/**/*.py"))
    imports = {(file.name, module) for file in files for module in imported_by(file.read_text())}
    assert ("corpus_bleu.py", "transforms.config") in imports
    assert [
        (file, module)
        for file, module in sorted(imports)
        if module.split(".")[0] == "pipeline" or module.startswith(".")
    ] == []


def test_the_public_names_come_from_the_top_of_the_package():
    names = ["BleuConfig", "BleuScore", "CorpusBleu", "SentencePieceModel", "preset"]
    imported = ", ".join(names)
    program = f"from transforms import {imported}\nprint(*(each.__name__ for each in ({imported})))"
    assert in_a_fresh_interpreter(program) == names
    assert transforms.__all__ == names


def test_a_name_that_the_package_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'transforms' has no attribute 'CorpusBlue'"):
        _ = transforms.CorpusBlue

"""Libraries of Beam's filesystems are imported for the command lines that can need them."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import COMMAND, PROJECT

from beam_bleu.pipeline.cheap_start import leave_out_unused_packages
from beam_bleu.pipeline.folder.paths import has_module

PROGRAM = """
from beam_bleu.pipeline.cheap_start import leave_out_unused_packages
leave_out_unused_packages(["a.txt"])
import fastavro, grpc, io, pyarrow.compute, pyarrow.parquet, requests, yaml
from apache_beam.typehints.typehints import BeartypeDoorException, is_subhint
from cryptography.fernet import Fernet
from fastavro import parse_schema, schemaless_reader, schemaless_writer
key = Fernet(b"A" * 43 + b"=")
schema, file = parse_schema({"type": "int"}), io.BytesIO()
schemaless_writer(file, schema, 4)
file.seek(0)
print([
    pyarrow.compute.sum([1, 2, 3]).as_py(),
    is_subhint(bool, int) and issubclass(BeartypeDoorException, Exception),
    is_subhint(str, int),
    schemaless_reader(file, schema),
    len(key.decrypt(key.encrypt(b"x"))),
])
assert requests.exceptions.RequestException and grpc.aio.Channel and yaml.safe_load("1") == 1
assert pyarrow.parquet.ParquetFile and issubclass(requests.Timeout, OSError)
"""

LIBRARIES = ("boto3", "hdfs")
"""Libraries of Beam's filesystems that are one module, so that a test can replace them."""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in LIBRARIES:
        tmp_path.joinpath(f"{library}.py").touch()
        monkeypatch.delitem(sys.modules, library, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    importlib.invalidate_caches()


def _found(*words: str) -> set[str]:
    leave_out_unused_packages(words)
    return {library for library in LIBRARIES if has_module(library)}


@pytest.mark.parametrize("root", ["", "s3://"])
def test_a_run_in_this_process_needs_none(root):
    assert _found(f"{root}a.txt", "-i", f"name={root}*", f"--output={root}b") == set()


@pytest.mark.parametrize(
    "words",
    [
        ("a.txt", "-i", "name=hdfs://host/*"),
        ("--input=delta:s3://bucket/table",),
        ("a.txt", "-i", "b.txt", "--runner", "DataflowRunner"),
        ("doctor",),
    ],
)
def test_hdfs_tables_engines_and_the_doctor_see_all_libraries(words):
    assert _found(*words) == set(LIBRARIES)


def test_what_beam_imports_from_deferred_packages_works():
    done = subprocess.run(
        [*COMMAND[:1], "-c", PROGRAM], cwd=PROJECT, capture_output=True, check=True
    )
    assert done.stdout == b"[6, True, False, 4, 1]\n"

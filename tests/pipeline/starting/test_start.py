"""A run imports nothing that takes long and that it does not need."""

from __future__ import annotations

import subprocess

from command_line import COMMAND, PROJECT, REFERENCES, SYSTEMS, called, streams

UNNEEDED = (
    "numba",
    "pandas",
    "pymongo",
    # Parts of packages that are loaded when they are used.
    "beartype.meta",
    "cryptography.hazmat",
    "pyarrow._compute",
    "pyparsing",
    "regex._main",
    "urllib3",
    "yaml.loader",
    # Parts of Beam's extras for object stores.
    "apitools",
    "azure",
    "boto3",
    "google.api_core",
    "google.auth",
    "google.cloud.storage",
    "obstore",
)

PROGRAM = f"""
import atexit, sys
from beam_bleu.pipeline.main import command
unneeded = {UNNEEDED}
atexit.register(
    lambda: print("loaded:", *(name for name in unneeded if name in sys.modules), file=sys.stderr)
)
command()
"""


def test_a_run_with_compiled_code_in_the_cache_imports_nothing_unneeded() -> None:
    words = streams([SYSTEMS["birch"]], REFERENCES)
    expected = called(*words)  # it leaves its code in the cache
    done = subprocess.run(
        [*COMMAND[:1], "-c", PROGRAM, *words], cwd=PROJECT, capture_output=True, check=True
    )
    assert done.stderr.decode().splitlines()[-1] == "loaded:"
    assert done.stdout == expected.out

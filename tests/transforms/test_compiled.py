"""The cache of compiled code: never stale, never in the way."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from numba import config

import transforms
from transforms import compiled as module

PACKAGE = pathlib.Path(transforms.__file__).parent

COUNT = """
from transforms.config import BleuConfig
from transforms.pairing.segments import batch_segments
from transforms.statistics.kernel import count_batch
print(count_batch(batch_segments([("a~b", ["a"])]), BleuConfig()).candidate_length[0, 0])
"""


@pytest.fixture(autouse=True)
def _fresh_choice_of_folder():
    module._cache_folder.cache_clear()
    yield
    module._cache_folder.cache_clear()


def candidate_length(folder: pathlib.Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", COUNT], cwd=folder, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.parametrize(
    ("file", "old", "new", "after"),
    [
        ("machine.py", '("{", "~")', '("{", "}")', 1),
        # Code of before would write the length of the reference, 1, to this column.
        (
            "statistics/segment_statistics.py",
            "FIRST_REFERENCE_LENGTH = 0, 1",
            "FIRST_REFERENCE_LENGTH = 1, 2",
            3,
        ),
    ],
    ids=["code", "a constant"],
)
def test_a_change_of_another_file_is_noticed(
    file: str, old: str, new: str, after: int, tmp_path: pathlib.Path
) -> None:
    copy = tmp_path / "transforms"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert candidate_length(tmp_path) == 3
    assert list(copy.rglob("*.nbi")), "the first run left nothing in the cache"
    source = copy / file
    times = os.stat(source)
    assert old in source.read_text()
    source.write_text(source.read_text().replace(old, new))
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert candidate_length(tmp_path) == after


def test_code_compiles_where_no_folder_can_be_written(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(module, "_parents", lambda _: iter([tmp_path / "file"]))
    add = module.compiled(lambda x: x + 1)
    assert add(np.int64(1)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_numbas_own_setting_is_kept_and_honoured(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    module.compiled(lambda x: x)
    assert str(tmp_path) == config.CACHE_DIR
    assert [path.name.startswith("beam-bleu-") for path in tmp_path.iterdir()] == [True]

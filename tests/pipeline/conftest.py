"""Fixtures of the tests of output folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run, called
from segment_corpus import Corpus

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder for the output, which does not exist yet."""
    return tmp_path / "out"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Three systems whose segments are scored."""
    return Corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def expected(corpus: Corpus) -> dict[tuple[int, str], dict[str, object]]:
    """The rows of its segment scores."""
    return corpus.expected(BleuConfig().for_segments())


@pytest.fixture(scope="module")
def plain(corpus: Corpus) -> Run:
    """Its run without segment scores."""
    return called(*corpus.plain)

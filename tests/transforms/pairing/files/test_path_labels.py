"""Tests labels from the paths of files."""

from __future__ import annotations

import pytest

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.files.path_labels import path_label


def test_the_group_of_a_pattern_is_the_value() -> None:
    for pattern, path, value in (
        ("news/*/(.*)/", "news/2024/en-de/x.tsv", "en-de"),
        ("news/*/(.*)/", "old_news/2024/en-de/x.tsv", None),  # names match as a whole
        ("news/*/(.*)/", "news/2024/x.tsv", None),  # * does not match a slash
        ("news/**/(*)/*.tsv", "news/2024/a/b/en-de/x.tsv", "en-de"),
        ("(*)/*.tsv", "/home/a/en-de/x.tsv", "en-de"),
        ("news/(*)", "/news/old/news/new/x.tsv", "new"),  # the last place counts
        ("/news/(*)", "news/new/x.tsv", None),
        ("samples_(*)_*.jsonl", "d/samples_wmt_de_2024-11-19T10.1.jsonl", "wmt_de"),
        ("(news|ted)-*.txt", "a/ted-1.txt", "ted"),
        ("x.(??).txt", "a/x.de.txt", "de"),
        ("x[0-9].(*).txt", "a/x7.de.txt", "de"),
        ("x_(*).txt", "a/x_.txt", None),  # an empty value is none
    ):
        assert path_label(f"name={pattern}").value_of(path) == value, pattern


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("news/(*)/", "must be NAME=PATTERN"),
        ("a=news/*/", "one part in parentheses"),
        ("a=(*)/(*)", "one part in parentheses"),
        ("a=[z-a](*)", "cannot be read"),
    ],
)
def test_a_text_that_is_no_label_from_a_path(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        path_label(text)


def test_a_path_with_bytes_that_are_not_utf8() -> None:
    assert path_label("a=(*)/").value_of("d\udcff/x") == "d\\udcff"


def test_files_of_the_same_lines_must_agree() -> None:
    label = path_label("domain=(*)/*.txt")
    files = [("references", "news/ref.txt"), ("candidates a", "out.txt")]
    assert label.agreed(files) == "news"
    with pytest.raises(InputError, match=r"'news' in news/ref.txt .* 'ted' in ted/a.txt"):
        label.agreed([*files, ("candidates b", "ted/a.txt")])
    with pytest.raises(InputError, match=r"no path .* domain=\(\*\)/\*.txt: out.txt"):
        label.agreed(files[1:])

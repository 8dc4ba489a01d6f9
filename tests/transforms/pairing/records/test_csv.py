"""CSV files: fields with quotes, delimiters and newlines; and what is no CSV."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from command_line import called
from group_reading import records, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_bleu.transforms.pairing.records import csv_files

FIELDS = st.text(st.sampled_from(',;\t"\n\r aé\U0001f600'), max_size=6)
USUAL = "hyp,ref\na,b\n"


def written(rows, **options):
    text = io.StringIO()
    csv.writer(text, **options).writerows(rows)
    return text.getvalue().encode()


@given(
    st.lists(st.tuples(FIELDS, FIELDS, FIELDS), min_size=1, max_size=20),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([1, 2, 3, 100]),
    st.booleans(),
)
@settings(max_examples=40)
def test_fields_are_those_that_pythons_csv_writes(tmp_path_factory, rows, end, chunk, is_gzip):
    path = tmp_path_factory.mktemp("csv") / ("t.csv.gz" if is_gzip else "t.csv")
    # Python writes a carriage return without quotes if lines do not end with one.
    quoting = csv.QUOTE_ALL if end == "\n" else csv.QUOTE_MINIMAL
    data = written([("ref", "other\n", "hyp"), *rows], lineterminator=end, quoting=quoting)
    path.write_bytes(gzip.compress(data) if is_gzip else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_CHUNK_BYTES", 40 + chunk)
        assert rows_of(records(path)) == [(hyp, ref) for ref, _, hyp in rows]


def test_quotes_are_judged_across_chunks():
    text = written([('a"b', ",\n"), ("", '"'), ('""', "x\r\n")])
    for size in range(1, len(text)):
        chunks = [text[i : i + size] for i in range(0, len(text), size)]
        assert b"".join(csv_files._with_right_quotes(chunks, ",")) == text
        with pytest.raises(ValueError, match="the quote in line 6 is not closed"):
            [*csv_files._with_right_quotes([*chunks, b'c,"x'], ",")]
        with pytest.raises(ValueError, match="line 6 has a quote within a field"):
            [*csv_files._with_right_quotes([*chunks, b'c,"x"', b"y"], ",")]


def test_header_numbers_and_tabs(tmp_path):
    for name, flags in {"t.csv": (), "t.txt": ("--input_format", "quoted-tsv")}.items():
        path, tab = tmp_path / name, {"delimiter": "\t" if flags else ","}
        rows = [('the "a" b c d', "x", 'the "a"\nb c d')] * 3
        path.write_bytes(b"\xef\xbb\xbf" + written([("ref", "no", "mt"), *rows], **tab))
        assert called("--input", path, *flags, "-b").out == b"100.0\n"
        path.write_bytes(written(rows, **tab))
        columns = ["--candidate_columns", "3", "--reference_columns", "1", "--no_header"]
        assert called("--input", path, *flags, *columns, "-b").out == b"100.0\n"


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "the CSV file cannot be read: it is empty, or begins with an empty line"),
        (USUAL + "a,b,c\n", "Row #3: Expected 2 columns, got 3"),
        (USUAL + '"c\nd,e\n', "the quote in line 3 is not closed"),
        (USUAL + '"c"d,e\n', "line 3 has a quote within a field"),
        (USUAL + '"c\n",e\nhyp,ref\n', "row 4 has the names of columns"),
        (USUAL.encode() + b"c,\xff\n", "row 3: column ref: invalid UTF-8 at byte 1 of the text"),
        (gzip.compress(USUAL.encode(), mtime=0)[:-9], "truncated"),
    ],
)
def test_what_is_no_csv_is_named(tmp_path, content, cause):
    path = tmp_path / ("t.csv.gz" if content[:1] == b"\x1f" else "t.csv")
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    called("--input", path).assert_failed(3, "input: ", cause, str(path))


def test_a_bad_text_can_be_rejected(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out"
    path.write_bytes(b"hyp,ref\n" + b'"a b\nc d",a b c d\n' * 120 + b"\xff,x\n")
    run = called("--input", path, "--on_bad_record", "reject", "--output", out)
    assert run.code == 0
    (rejected,) = out.glob("rejected-*.jsonl")
    assert "row 122" in rejected.read_text()

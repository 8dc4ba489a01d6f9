"""Transcripts have the rows that sclite and Kaldi read in them, or an error that says where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from command_line import called

from beam_bleu.transforms.pairing.records.whole_files.speech import kaldi_rows, stm_rows, trn_rows

Rows = Callable[[bytes], Iterable[Mapping[str, str | None]]]

# As in sclite's documentation, and its test data.
TRN = b""";; a comment
she had your dark suit  in greasy wash water all year (cmh_sa01)

LOW_MC:  ( ) - / < > _ a\tb  (SPK1-LC2)
NULL-MC: (SPK1-LC6)\r
(SPK1-LC7)
"""
SCLITE_WORDS = r"""** another comment (s-0)
wait; what;wh;t is it* (s-1)
a ; \ b (s-2)
a\;b a\b * a** a\** é*;t (uh) she- &lt; (s-3)
""".encode()
STM = b""";; LABEL "O" "Overall" "Overall Scores"
2347 a 2347-a 1.06 3.50 <O,NA> i have worked
2347 a 2347-a 11.06 15.840 <O,NA>
2347\ta  2347-a 115.43 121
2347 b 2347-b .5 20.51 uh   huh
2347 b inter_segment_gap 0 0.5 ignore_time_segment_in_scoring
"""
KALDI = "utt-1 ein Käse \nutt-2\nutt-3 \nutt-4\ttab\tand  spaces\n".encode()


def texts(rows: Rows, data: bytes) -> dict[str | None, str | None]:
    return {row["id"]: row["text"] for row in rows(data)}


def test_trn() -> None:
    assert texts(trn_rows, TRN) == {
        "cmh_sa01": "she had your dark suit  in greasy wash water all year",
        "SPK1-LC2": "LOW_MC:  ( ) - / < > _ a b",
        "SPK1-LC6": "NULL-MC:",
        "SPK1-LC7": "",
    }
    assert {row["speaker"] for row in trn_rows(TRN)} == {"cmh", "SPK1"}


def test_words_are_those_that_sclite_compares() -> None:
    """As sclite 2.10 of SCTK 2.4.12 prints the words, and counts them: its empty word is ";"."""
    assert texts(trn_rows, SCLITE_WORDS) == {
        "s-1": "wait what is it",
        "s-2": "a ; ; b",
        "s-3": "a;b ab * a* a* é (uh) she- &lt",
    }


def test_stm() -> None:
    assert texts(stm_rows, STM) == {
        "2347 a 1.06 3.5": "i have worked",
        "2347 a 11.06 15.84": "",
        "2347 a 115.43 121": "",
        "2347 b 0.5 20.51": "uh   huh",
    }
    first, *_, last = stm_rows(STM)
    assert [first[name] for name in ("file", "channel", "speaker")] == ["2347", "a", "2347-a"]
    assert (first["labels"], last["labels"]) == ("<O,NA>", None)


def test_kaldi() -> None:
    found = texts(kaldi_rows, KALDI)
    assert found == {"utt-1": "ein Käse", "utt-2": "", "utt-3": "", "utt-4": "tab and  spaces"}


@pytest.mark.parametrize(
    ("rows", "text", "said"),
    [
        (trn_rows, b"a (1)\nb", r"line 2 does not end with an id, such as \(speaker-1\)"),
        (trn_rows, b"a (1) b", "line 1 does not end"),
        (trn_rows, b"a ()", "line 1 does not end"),
        (trn_rows, b"i've { um / uh / @ } as (a-1)", "line 1 has alternatives"),
        (trn_rows, b"a @ b (a-1)", "line 1 has alternatives, { a / b }, or @ for no word"),
        (stm_rows, b";;\n2347 a 2347-a 1.06 3.47 { um / uh } i", "line 2 has alternatives"),
        (stm_rows, b"2347 a 2347-a 1.06 uh huh", "line 1 is not like FILE CHANNEL SPEAKER 0.0"),
        (kaldi_rows, b"a b\n c", "line 2 begins with a space, not with an id"),
    ],
)
def test_what_is_wrong_is_named(rows: Rows, text: bytes, said: str) -> None:
    with pytest.raises(pa.ArrowInvalid, match=said):
        list(rows(text))


FILES: dict[str, tuple[str, str, list[str]]] = {
    "trn": (".trn", "{text} ({id})", []),
    "stm": (".stm", "{id} A {id} 0.0 2.50 {text}", []),
    "kaldi": ("", "{id} {text}", ["--layout", "kaldi"]),
}


@pytest.mark.parametrize("name", FILES)
def test_utterances_are_paired_by_their_ids(tmp_path: Path, name: str) -> None:
    suffix, form, flags = FILES[name]

    def write(file: str, *rows: tuple[str, str]) -> Path:
        path = tmp_path / f"{file}{suffix}"
        path.write_text("".join(f"{form.format(id=own, text=text)}\n" for own, text in rows))
        return path

    reference = write("ref", ("s-1", "a b c"), ("s-2", ""), ("s-3", "d e"))
    hypothesis = write("hyp", ("s-3", "d"), ("s-1", "a x c"), ("s-2", "y"))
    run = called(reference, "-i", hypothesis, *flags, "-m", "wer", "--format", "json")
    (score,) = run.document["scores"]
    assert score["system"] == "hyp"
    assert [score[kind] for kind in ("substitutions", "deletions", "insertions")] == [1, 1, 1]
    shorter = write("short", ("s-1", "a"), ("s-2", ""))
    run = called(reference, "-i", shorter, *flags, "-m", "wer")
    run.assert_failed(3, "missing segments: 1 of 3", "s-3")
    run = called("--input", reference, *flags, "-m", "wer")
    run.assert_failed(2, f"--input {reference}: a file with ", "write: beam-bleu REF... -i FILE")

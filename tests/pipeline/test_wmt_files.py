"""Files of WMT have the texts that sacreBLEU extracts from them."""

from __future__ import annotations

import pytest
from command_line import called
from pyarrow import ArrowInvalid
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

from beam_bleu.transforms.pairing.records.whole_files.wmt import score_rows, sgm_rows, xml_rows

TEXTS = [
    "Der Hund &amp; die Katze &lt;schliefen&gt;.",
    "  zwei   Leerzeichen\tund\u00a0mehr \u2028 am Ende  ",
    "Ein > Zeichen und <i>ein Tag</i>",
    "",
    "»Größe« 1 < 2",
]


def sgm(kind, system, texts):
    """A set of two documents, as WMT writes it."""
    lines = [f'<{kind} setid="newstest2020" srclang="any" trglang="de">']
    for document, part in (("bbc.1", texts[:2]), ("cnn.2", texts[2:])):
        lines.append(f'<doc sysid="{system}" docid="{document}" genre="news" origlang="en">')
        lines += ["<p>", *(f'<seg id="{i}">{text}</seg>' for i, text in enumerate(part, 1)), "</p>"]
        lines.append("</doc>")
    return "\n".join([*lines, f"</{kind}>", ""])


XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest2021">
  <doc origlang="en" id="bbc.1" domain="news">
    <src lang="en"><p><seg id="1">One &amp; two</seg><seg id="2">Three  four</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="2">Drei &lt;vier&gt;
</seg><seg id="1">Eins &amp; zwei</seg></p></ref>
    <ref lang="de" translator="B"><p><seg id="1">Eins und zwei</seg></p></ref>
    <hyp system="Online-A" language="de"><p><seg id="1">Ein  &amp;</seg><seg id="2"/></p></hyp>
    <hyp system="NMT" language="de"><p><seg id="1">Ein</seg><seg id="2">Drei</seg></p></hyp>
  </doc>
  <doc origlang="de" id="cnn.2" domain="social">
    <src lang="en"><p><seg id="1">Five</seg><seg id="2">No reference</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">F\u00fcnf</seg></p></ref>
    <hyp system="Online-A" language="de"><p><seg id="1">Fünf</seg><seg id="2">x</seg></p></hyp>
    <hyp system="NMT" language="de"><p><seg id="1">Vier</seg><seg id="2">y</seg></p></hyp>
  </doc>
  <doc origlang="en" id="test.3" testsuite="gender">
    <src lang="en"><p><seg id="1">Six</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">Sechs</seg></p></ref>
  </doc>
</dataset>
"""


def test_texts_of_sgm_files_are_those_of_sacrebleu(tmp_path):
    path, plain = tmp_path / "ref.sgm", tmp_path / "ref.txt"
    path.write_text(sgm("refset", "ref", TEXTS), encoding="utf-8", newline="\n")
    FakeSGMLDataset("x", [])._convert_format(str(path), str(plain))
    rows = [*sgm_rows(path.read_bytes())]
    assert [row["text"] for row in rows] == plain.read_bytes().decode().split("\n")[:-1]
    assert rows[2] == {
        **{"sysid": "ref", "docid": "cnn.2", "genre": "news", "origlang": "en"},
        **{"segment": "1", "text": TEXTS[2]},
    }


def test_texts_of_xml_files_are_those_of_sacrebleu(tmp_path):
    path = tmp_path / "newstest2021.en-de.all.xml"
    path.write_text(XML, encoding="utf-8")
    fields = WMTXMLDataset._unwrap_wmt21_or_later(str(path))
    fields = {
        name: [WMTXMLDataset._clean(text) for text in texts] for name, texts in fields.items()
    }
    rows = [*xml_rows(path.read_bytes())]
    for system in ("Online-A", "NMT"):
        own = [row for row in rows if row["system"] == system]
        own.sort(key=lambda row: (row["docid"], row["segment"]))
        assert [row["text"] for row in own] == fields[system]
        assert [row["refs"]["B"] for row in own] == fields["ref:B"]
        for name, field in [("ref", "ref:A"), *((n, n) for n in ("src", "docid", "domain"))]:
            assert [row[name] for row in own] == fields[field]


def test_sgm_files_are_joined_by_document_and_segment(tmp_path):
    texts = ["a cat sat here", "a dog", "the end of it", "it is so", "yes"]
    for kind, name in (("refset", "ref"), ("tstset", "online-A")):
        (tmp_path / f"{name}.sgm").write_text(sgm(kind, name, texts))
    files = tmp_path / "ref.sgm", "-i", tmp_path / "online-A.sgm"
    document = called(*files, "--slice_by", "docid", "--format=json").document
    whole = document["scores"][0]
    assert (whole["system"], whole["score"], whole["segments"]) == (
        "online-A",
        pytest.approx(100),
        5,
    )
    assert {entry["slice"]["docid"] for entry in document["scores"][1:]} == {"bbc.1", "cnn.2"}


def test_an_xml_file_has_all_systems(tmp_path):
    path = tmp_path / "newstest2021.en-de.all.xml"
    path.write_text(XML, encoding="utf-8")
    flags = ["--input", path, "-m", "chrf", "--format=json", "--slice_by=domain"]
    document = called(*flags).document
    whole = {row["system"]: row["segments"] for row in document["scores"] if row["slice"] is None}
    assert whole == {"Online-A": 3, "NMT": 3}
    other = called(*flags, "--reference_columns", "refs.B").document
    assert other["scores"][0]["score"] != document["scores"][0]["score"]


def test_segment_scores_are_long_records(tmp_path):
    path = tmp_path / "en-de.esa.seg.score"
    path.write_text("b\t1\nb\t0.5\na\t0\na\t0.25\n")
    document = called("--input", path, "-m", "mean:score", "--format=json").document
    assert {row["system"]: row["score"] for row in document["scores"]} == {"a": 0.125, "b": 0.75}


def of_xml(element):
    return f"<set><doc id='d1'>{element}</doc></set>".encode()


@pytest.mark.parametrize(
    ("parser", "data", "said"),
    [
        (sgm_rows, b'<doc docid="x">\n<seg id="1">a\n</seg>', "line 2"),
        (sgm_rows, b'<doc docid="x">\n<seg id="1">a</seg><seg id="2">b</seg>', "line 2"),
        (sgm_rows, b'<seg id="1">a</seg>', "line 1"),
        (sgm_rows, b'<doc docid="x">\n<hl><seg id="1">a</seg></hl>', "line 2"),
        (sgm_rows, b'<DOC docid="x">\n<SEG id="1">a</SEG>', "line 2"),
        (xml_rows, b"<set><doc></set>", "line 1"),
        (xml_rows, of_xml("<src><seg id='x'>a</seg></src>"), 'd1: .* <src>, <seg id="x">'),
        (xml_rows, of_xml("<ref><seg id='1'>a <b>c</b></seg></ref>"), "<ref>.* elements in its"),
        (xml_rows, of_xml("<ref><seg id='1'>a</seg></ref>" * 2), "<ref>.* the id of another"),
        (score_rows, b"a\t1\nb\tNaN\n", "line 2"),
        (score_rows, b"a 1 2\n", "line 1"),
    ],
)
def test_broken_files_are_refused(parser, data, said):
    with pytest.raises(ArrowInvalid, match=said):
        [*parser(data)]

"""Labels with control characters and invisible ones: each output can be shown and told apart."""

from __future__ import annotations

import json

from command_line import called, write_lines

HOSTILE = [
    *("a\x1b[31mb", "a\x7fb", "a\x9b31mb", "a\tb", "a\nb", "a\u00adb", "a\u202eb", "a\u200bb"),
    *("a\u2028b", "a\u2066b", "a\U000e0041b", "a\u00a0b"),
]


def is_safe(text: str) -> bool:
    return all(each.isprintable() or each in "\n\t\u00a0" for each in text)


def test_no_output_has_a_character_that_a_terminal_obeys(tmp_path):
    labels = [*HOSTILE, *(repr(each)[1:-1] for each in HOSTILE), *map(json.dumps, HOSTILE)]
    texts = {"candidate": "a b c d e", "reference": "a b c d f"}
    rows = [json.dumps({"label": label, **texts}) for label in labels]
    path = write_lines(tmp_path / "records.jsonl", rows)
    for form in ("text", "json", "tsv", "markdown", "latex"):
        out = tmp_path / form
        flags = ["--slice_by", "label", "--format", form, "--output", out, "--no_uncertainty"]
        run = called("--input", path, *flags)
        assert run.code == 0
        assert is_safe(run.out.decode())
        assert is_safe(run.err)
        for file in out.iterdir():
            if file.suffix in (".json", ".prom"):
                assert is_safe(file.read_text(encoding="utf-8")), file
        if form == "json":
            found = [each["slice"]["label"] for each in run.document["scores"][1:]]
            assert sorted(found) == sorted({*labels})
        elif form == "tsv":
            header, _, *lines = run.out.decode().splitlines()
            place = header.split("\t").index("slice")
            found = [json.loads(line.split("\t")[place])["label"] for line in lines]
            assert sorted(found) == sorted({*labels})
        else:  # a label does not look like its escapes
            first = {line.split("  ")[0] for line in run.out.decode().splitlines() if "1 " in line}
            assert len([each for each in first if "a" in each and "b" in each]) >= len({*labels})


def test_a_rejected_record_is_written_with_escapes(tmp_path):
    good = {"candidate": "a b c d e", "reference": "a b c d f"}
    bad = [{"candidate": None, "reference": label} for label in HOSTILE]
    lines = [json.dumps(each, ensure_ascii=False) for each in (good, *bad)]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    out = tmp_path / "out"
    run = called("--input", path, "--output", out, "--on_bad_record=reject", "--max_rejected=0.99")
    assert run.code == 0
    (file,) = out.glob("rejected-*.jsonl")
    written = file.read_text(encoding="utf-8").split("\n")[:-1]
    assert all(map(is_safe, written))
    assert sorted(json.loads(line)["raw"] for line in written) == sorted(lines[1:])

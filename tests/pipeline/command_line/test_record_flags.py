"""Flags of records: impossible ones end the command before anything runs, with exit code 2."""

from __future__ import annotations

from pathlib import Path

from command_line import called


def test_a_name_with_a_comma_is_written_in_brackets_in_every_flag(tmp_path: Path) -> None:
    path = tmp_path / "r.tsv"
    path.write_text("h,y=p\tr,ef\td,om\n" + "a b\ta b\t1\n" * 3)
    columns = ["--input", path, "--reference_columns", '["r,ef"]', "--format", "json"]
    columns += ["--slice_by", '["d,om"],length', "--where", '["d,om"]=1']
    columns += ["--metrics", "bleu", 'mean:["d,om"]']
    for candidate, name in (('["h,y=p"]', '["h,y=p"]'), ('x=["h,y=p"]', "x")):
        run = called(*columns, "--candidate_columns", candidate, "--no_uncertainty")
        assert {each["system"] for each in run.document["scores"]} == {name}, run.err

"""Writes all parts of pages and schemas that are generated from the code.

.venv/bin/python -m docs.make

These are tables of choices in the pages, the page of flags, and parts of the JSON Schemas. What is
written by hand in the same files does not change.
"""

from __future__ import annotations

import pathlib

from docs import make_flags, make_schemas, make_tables


def made() -> dict[pathlib.Path, str]:
    """The contents of all files with generated parts, by path."""
    return {
        **make_flags.made(),
        **make_tables.made(),
        **make_schemas.made(),
    }


if __name__ == "__main__":
    for _path, _text in made().items():
        _path.write_text(_text, encoding="utf-8")

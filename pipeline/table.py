"""The table on stdout: sacreBLEU's line, one row per system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HEADER = ("system", "BLEU", "precisions", "BP", "ratio", "hyp_len", "ref_len")


def table(document: Mapping[str, Any]) -> str:
    """The result document as text, rounded as sacreBLEU rounds."""
    rows = [_HEADER, *(_row(score) for score in document["scores"])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"BLEU|{document['signature']}", f"{document['segments']} segments", ""]
    for row in rows:
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join(lines) + "\n"


def _row(score: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        score["system"],
        f"{score['score']:.1f}",
        "/".join(f"{precision:.1f}" for precision in score["precisions"]),
        f"{score['bp']:.3f}",
        f"{score['ratio']:.3f}",
        str(score["sys_len"]),
        str(score["ref_len"]),
    )

"""Other programs that read the same records, or do a part of the work.

    python -m benchmarks.speed.records.contestants NAME PATTERN

prints what it computed, as JSON.
"""

from __future__ import annotations

import glob
import json
from typing import Any

from benchmarks.program import command_parser


def pandas(pattern: str) -> Any:
    """Pandas reads JSON lines, and sacreBLEU's API scores them."""
    import pandas
    from sacrebleu.metrics import BLEU

    read = [pandas.read_json(path, lines=True) for path in sorted(glob.glob(pattern))]
    records = pandas.concat(read)
    score = BLEU().corpus_score(list(records["hyp"]), [list(records["ref"])])
    return {"pairs": len(records), "score": score.score}


def polars(pattern: str) -> Any:
    """Polars reads the texts of Parquet, and adds up their lengths: nothing is scored."""
    import polars

    texts = [polars.col(name).str.len_bytes().sum() for name in ("hyp", "ref")]
    sums = polars.scan_parquet(pattern).select(polars.len(), *texts).collect(engine="streaming")
    pairs, *sizes = sums.row(0)
    return {"pairs": pairs, "bytes": sum(sizes)}


def _main() -> None:
    contestants = {"pandas": pandas, "polars": polars}
    parser = command_parser((__doc__ or "").partition("\n")[0])
    parser.add_argument("name", choices=contestants)
    parser.add_argument("pattern")
    flags = parser.parse_args()
    print(json.dumps(contestants[flags.name](flags.pattern)))


if __name__ == "__main__":
    _main()

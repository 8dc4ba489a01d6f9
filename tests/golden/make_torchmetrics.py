"""Makes torchmetrics.json: torchmetrics.functional.text.bleu_score on the corpora.

    pip install torchmetrics==1.9.0 torch    # any recent torch; its CPU build is enough
    python tests/golden/make_torchmetrics.py

The tool gives a float32. It is written as the double with the same value.
"""

import torch
import torchmetrics
from golden_tables import outcome, read_corpora, write
from torchmetrics.functional.text import bleu_score

OPTIONS = [
    {},
    {"smooth": True},
    {"n_gram": 2},
    {"n_gram": 2, "smooth": True},
    {"weights": [0.4, 0.3, 0.2, 0.1]},
]


def main():
    torch.set_num_threads(1)
    records = []
    for corpus in read_corpora():
        for options in OPTIONS:
            answer = outcome(
                lambda corpus=corpus, options=options: {
                    "score": bleu_score(
                        corpus["candidates"], corpus["references"], **options
                    ).item()
                }
            )
            records.append({"corpus": corpus["name"], "options": options, **answer})
    about = {
        "tool": "torchmetrics.functional.text.bleu_score",
        "version": torchmetrics.__version__,
        "torch": torch.__version__,
        "made_by": "tests/golden/make_torchmetrics.py",
    }
    write("torchmetrics.json", about, records=records)


if __name__ == "__main__":
    main()

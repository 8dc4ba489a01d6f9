"""Makes d2l.json: d2l.torch.bleu(pred_seq, label_seq, k) of three releases, k = 1..4.

    pip install torch torchvision pandas matplotlib requests gym scipy matplotlib-inline ipython
    for version in 1.0.3 0.17.6 0.15.1; do
        pip install --no-deps --target d2l-$version d2l==$version
    done
    python tests/golden/make_d2l.py d2l-1.0.3 d2l-0.17.6 d2l-0.15.1

The tool takes one reference, so it gets the first of each sentence. If a score cannot be
computed, the record has the error.
"""

import importlib
import sys

from golden_tables import outcome, read_sentences, write

ORDERS = [1, 2, 3, 4]


def bleu_of(folder):
    """(version, function) of the release that is installed in a folder."""
    for name in [name for name in sys.modules if name.split(".")[0] == "d2l"]:
        del sys.modules[name]
    sys.path.insert(0, folder)
    package = importlib.import_module("d2l")
    function = importlib.import_module("d2l.torch").bleu
    assert package.__file__.startswith(folder), package.__file__
    sys.path.remove(folder)
    return package.__version__, function


def scores(bleu, candidate, reference):
    answers = [outcome(lambda k=k: {"score": bleu(candidate, reference, k)}) for k in ORDERS]
    return [answer.get("score", answer.get("error")) for answer in answers]


def main():
    records = []
    releases = [bleu_of(folder) for folder in sys.argv[1:]]
    for sentence in read_sentences():
        reference = sentence["references"][0]
        by_release = {
            version: scores(bleu, sentence["candidate"], reference) for version, bleu in releases
        }
        newest = by_release[releases[0][0]]
        different = {
            version: answers for version, answers in by_release.items() if answers != newest
        }
        record = {"sentence": sentence["name"], "scores": newest}
        records.append({**record, "other_releases": different} if different else record)
    about = {
        "tool": "d2l.torch.bleu",
        "version": releases[0][0],
        "other_releases": [version for version, _ in releases[1:]],
        "orders": ORDERS,
        "made_by": "tests/golden/make_d2l.py",
    }
    write("d2l.json", about, records=records)


if __name__ == "__main__":
    main()

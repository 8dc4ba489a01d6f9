"""Makes nltk_legacy.json: BLEU of NLTK's old releases, which leave out an order without matches.

    for version in 3.2.5 3.2.4 3.2.3 3.2.2 3.2.1 3.2 3.1 3.0.5 3.3; do
        pip install --no-deps --target nltk-$version nltk==$version
    done
    pip install six requests
    python tests/golden/make_nltk_legacy.py nltk-3.2.5 nltk-3.2.4 ...

It needs Python 3.6, because later versions cannot import these releases. The first release scores
all corpora. The others score only the corpora of the kinds seed and edge that they can score.
"""

import json
import subprocess
import sys
import warnings

from golden_tables import outcome, read_corpora, read_sentences, write

OPTIONS = [
    {},
    {"weights": [0.5, 0.5]},
    {"weights": [0.25, 0.25, 0, 0]},
    {"weights": [0.4, 0.3, 0.2, 0.1]},
]
UNIFORM = (0.25, 0.25, 0.25, 0.25)


def tool():
    """(version, corpus_bleu, sentence_bleu) of the release that can be imported."""
    import nltk

    try:
        from nltk.translate import bleu_score
    except ImportError:
        from nltk.align.bleu_score import bleu

        return nltk.__version__, None, lambda r, h, w=UNIFORM: bleu(h, r, w)
    if not hasattr(bleu_score, "corpus_bleu"):
        return nltk.__version__, None, lambda r, h, w=UNIFORM: bleu_score.bleu(r, h, w)
    return nltk.__version__, bleu_score.corpus_bleu, bleu_score.sentence_bleu


def answer(corpus, corpus_bleu, sentence_bleu, options):
    candidates = [text.split() for text in corpus["candidates"]]
    references = [[text.split() for text in texts] for texts in corpus["references"]]
    weights = tuple(options.get("weights", UNIFORM))
    if corpus_bleu:
        return outcome(lambda: {"score": corpus_bleu(references, candidates, weights)})
    return outcome(lambda: {"score": sentence_bleu(references[0], candidates[0], weights)})


def main():
    version, corpus_bleu, sentence_bleu = tool()
    corpora = [corpus for corpus in read_corpora() if corpus["kind"] != "space"]
    records = [
        dict(answer(corpus, corpus_bleu, sentence_bleu, o), corpus=corpus["name"], options=o)
        for corpus in corpora
        for o in OPTIONS
    ]
    sentences = [
        dict(
            outcome(
                lambda s=s: {
                    "score": sentence_bleu(
                        [r.split() for r in s["references"]], s["candidate"].split()
                    )
                }
            ),
            sentence=s["name"],
        )
        for s in read_sentences()
    ]
    releases = []
    for folder in sys.argv[2:]:
        done = subprocess.run(
            [sys.executable, __file__, folder], stdout=subprocess.PIPE, check=True
        )
        releases.append(json.loads(done.stdout.decode()))
    about = {
        "tool": "nltk.translate.bleu_score",
        "version": version,
        "python": "{}.{}".format(*sys.version_info),
        "made_by": "tests/golden/make_nltk_legacy.py",
    }
    if sys.argv[2:]:
        write("nltk_legacy.json", about, records=records, sentences=sentences, releases=releases)
    else:
        scores = short(corpora, corpus_bleu, sentence_bleu)
        print(json.dumps({"version": version, "scores": scores}))


def short(corpora, corpus_bleu, sentence_bleu):
    """The results of a release for the corpora of the kinds seed and edge."""
    found = {}
    for corpus in corpora:
        can = corpus_bleu or len(corpus["candidates"]) == 1
        if corpus["kind"] in ("seed", "edge") and can:
            given = answer(corpus, corpus_bleu, sentence_bleu, {})
            found[corpus["name"]] = given.get("score", given.get("error"))
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.path.insert(0, sys.argv[1])
    main()

"""Makes corpora.json and sentences.json, the texts that all tools score.

    python tests/golden/make_corpora.py

It needs only Python 3.10. The same seeds give the same files.
"""

import pathlib
import random

from golden_tables import write

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"

SHIPS = ["this is a ship", "it is ship", "ship it is", "a ship, it is"]
SHIP_CANDIDATES = [
    *("it is ship", "it is a ship", "it", "it it it it it it it"),
    *("it a b c d e f g h i j k l m n", "ship ship ship", "it ship"),
]
PAPER_ONE = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the "
    "command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]
PAPER_ONE_CANDIDATES = [
    "It is a guide to action which ensures that the military always obeys the commands of the "
    "party",
    "It is to insure the troops forever hearing the activity guidebook that party direct",
]
CAT = ["the cat is on the mat", "there is a cat on the mat"]
PICTURE = ["the picture is clicked by me", "this picture was clicked by me"]

TEXT = [
    (
        'The U.S. economy grew 3.5% in 2019-20, said Mr. Smith ("our chief economist").',
        "The US economy grew by 3.5 % in 2019-2020, Mr Smith (our chief economist) said.",
        "Mr. Smith, chief economist, said the U.S. economy grew 3.5% in 2019-20.",
    ),
    (
        "Shares of AT&amp;T fell $1,250.75 -- a 10-year low!",
        "AT&amp;T shares dropped by $1,250.75, a 10-year low.",
        "Shares of AT&T fell by $1,250.75: a ten-year low!",
    ),
    (
        "She said: &quot;I don't know&quot; and left at 5:30 p.m.",
        'She said "I do not know" and left at 5:30 pm.',
        "&quot;I don't know,&quot; she said, and left at half past five.",
    ),
    (
        "See http://example.org/a_b?c=1&amp;d=2 for x &lt; y [note 7].",
        "For x < y, see http://example.org/a_b?c=1&d=2 [note 7].",
        "See http://example.org/a_b?c=1&amp;d=2 [7] for x &lt; y.",
    ),
    (
        "Well-known e-mail providers (e.g. Example, Inc.) lost 1.000.000 users.",
        "Well known email providers, e.g. Example Inc., lost 1,000,000 users.",
        "Well-known e-mail providers such as Example, Inc. lost 1.000.000 of their users.",
    ),
    (
        "Ankara: GÜNEŞ doğdu, Çağla geldi.",
        "Ankara: Güneş doğdu, Çağla geldi.",
        "ANKARA: güneş doğdu ve Çağla GELDİ.",
    ),
    (
        "Der Straßenbahnhof Łódź Fabryczna kostete 1,7 Mrd. €.",
        "Der STRASSENBAHNHOF Łódź Fabryczna kostete 1,7 Mrd. Euro.",
        "Der Bahnhof ŁÓDŹ Fabryczna hat 1,7 Mrd. € gekostet.",
    ),
    (
        "The <skipped> match ended 3-1, i.e. 3:1 — not 3–1.",
        "The match ended 3-1, i.e. 3:1, not 3–1.",
        "The match ended 3:1 (not 3-1).",
    ),
    ("HE SAID SO ON TV", "he said so on TV", "He said so on tv"),
    ("The End.", "The end.", "THE END"),
]

ODD_SPACE = {
    "double": "  ",
    "tab": "\t",
    "vertical-tab": "\v",
    "form-feed": "\f",
    "file-separator": "\x1c",
    "next-line": "\x85",
    "no-break": "\xa0",
    "line-separator": "\u2028",
    "ideographic": "\u3000",
    "zero-width": "\u200b",
}


def corpus(name, kind, segments):
    """A corpus from pairs (candidate, references)."""
    return {
        "name": name,
        "kind": kind,
        "candidates": [candidate for candidate, _ in segments],
        "references": [list(references) for _, references in segments],
    }


def seeds():
    """The examples in the documents with which this project started."""
    for number, candidate in enumerate(SHIP_CANDIDATES, 1):
        yield corpus(f"seed-ship-{number}", "seed", [(candidate, SHIPS)])
    yield corpus("seed-ship-all", "seed", [(candidate, SHIPS) for candidate in SHIP_CANDIDATES])
    for number, candidate in enumerate(PAPER_ONE_CANDIDATES, 1):
        yield corpus(f"seed-paper-example1-{number}", "seed", [(candidate, PAPER_ONE)])
    yield corpus("seed-paper-example2", "seed", [("the the the the the the the", CAT)])
    yield corpus("seed-cat-bigrams", "seed", [("the cat the cat on the mat", CAT)])
    yield corpus("seed-picture", "seed", [("the picture the picture by me", PICTURE)])


def edges():
    """Cases that a definition must decide."""
    exact = "the cat is on the mat"
    for name, segments in {
        "no-segments": [],
        "empty-candidate": [("", [exact])],
        "empty-reference": [(exact, [""])],
        "both-empty": [("", [""])],
        "empty-candidate-of-two": [("", ["a cat"]), (exact, [exact])],
        "empty-reference-of-two": [("a cat", [""]), (exact, [exact])],
        "one-of-two-references-empty": [(exact, ["", exact])],
        "exact": [(exact, [exact])],
        "exact-four-tokens": [("a b c d", ["a b c d"])],
        "exact-three-tokens": [("a b c", ["a b c"])],
        "exact-two-tokens": [("a b", ["a b"])],
        "exact-one-token": [("a", ["a"])],
        "short-segments-exact": [("a b", ["a b"]), ("a b c d e", ["a b c d e"])],
        "no-match": [("a b c d e", ["v w x y z"])],
        "no-match-one-token": [("a", ["z"])],
        "unigrams-only": [("a b c d e", ["e d c b a"])],
        "bigrams-only": [("a b x c d y e f", ["a b z c d w e f"])],
        "trigrams-only": [("a b c x d e f", ["a b c y d e f"])],
        "equal-lengths": [("a b c d e", ["a b c d z"])],
        "one-shorter": [("a b c d e", ["a b c d e f"])],
        "one-longer": [("a b c d e f", ["a b c d e"])],
        "tie-longer-first": [("a b c d e", ["a b c d e f", "a b c d"])],
        "tie-shorter-first": [("a b c d e", ["a b c d", "a b c d e f"])],
        "tie-by-two-longer-first": [("a b c d e", ["a b c d e f g", "a b c"])],
        "tie-by-two-shorter-first": [("a b c d e", ["a b c", "a b c d e f g"])],
        "tie-in-one-of-two": [
            ("a b c d e", ["a b c d e f", "a b c d"]),
            ("a b c d e f g", ["a b c d e f g h"]),
        ],
        "shortest-is-not-closest": [("a b c d e f", ["a b c d e f g", "a b"])],
        "longest-is-closest": [("a b c d e f g h", ["a b c d", "a b c d e f g", "a b c d e"])],
        "clipped": [("a a a a b b b b", ["a a b b", "a a a b"])],
        "bracket-case": [("[A B] C D", ["[a b] c d"])],
    }.items():
        yield corpus(f"edge-{name}", "edge", segments)


def words(rng, vocabulary, length):
    return " ".join(rng.choice(vocabulary) for _ in range(length))


def random_segment(rng, vocabulary, lengths, reference_count, tie=0.5, near=0.5):
    """A candidate and references, often similar to it, and often equally close to it in length."""
    length = rng.choice(lengths)
    candidate = words(rng, vocabulary, length)
    wanted = [rng.choice(lengths) for _ in range(reference_count)]
    if reference_count > 1 and length and rng.random() < tie:
        away = rng.randint(1, min(2, length))
        wanted[:2] = rng.sample([length - away, length + away], 2)
    found = []
    for size in wanted:
        if rng.random() < near:
            tokens = candidate.split()
            tokens = tokens[:size] + words(rng, vocabulary, max(0, size - length)).split()
            for _ in range(rng.randrange(3)):
                if tokens:
                    tokens[rng.randrange(len(tokens))] = rng.choice(vocabulary)
            found.append(" ".join(tokens))
        else:
            found.append(words(rng, vocabulary, size))
    return candidate, found


def random_corpora():
    shapes = [
        # name, count, least and most segments, least and most references, lengths, vocabulary
        ("mixed", 8, (2, 20), (1, 4), range(1, 12), "abcdef"),
        ("tiny-vocabulary", 4, (1, 8), (1, 4), range(1, 9), "ab"),
        ("short", 4, (1, 6), (1, 3), range(1, 4), "abcd"),
        ("with-empties", 4, (3, 10), (1, 4), [0, 0, 1, 3, 5, 8], "abcde"),
        ("few-matches", 4, (1, 4), (1, 2), range(4, 9), "abcdefghijklmnop"),
        ("long", 2, (10, 20), (1, 3), range(15, 30), "abcdefghijkl"),
    ]
    for name, count, segment_counts, reference_counts, lengths, vocabulary in shapes:
        for number in range(1, count + 1):
            rng = random.Random(f"{name} {number}")
            segment_count = rng.randint(*segment_counts)
            reference_count = rng.randint(*reference_counts)
            yield corpus(
                f"random-{name}-{number}",
                "random",
                [
                    random_segment(rng, vocabulary, lengths, reference_count)
                    for _ in range(segment_count)
                ],
            )


def texts():
    """Sentences with upper and lower case, punctuation, entities and numbers."""
    yield corpus("text-one-reference", "text", [(c, [a]) for c, a, _ in TEXT])
    yield corpus("text-two-references", "text", [(c, [a, b]) for c, a, b in TEXT])
    yield corpus("text-turned-round", "text", [(b, [c]) for c, _, b in TEXT])
    for number, (candidate, one, two) in enumerate(TEXT, 1):
        yield corpus(f"text-sentence-{number}", "text", [(candidate, [one, two])])
    lines = {
        path.stem: path.read_text(encoding="utf-8").splitlines()
        for path in sorted(EXAMPLES.glob("*/*.txt"))
    }
    for system in ("atlas", "birch", "cobalt"):
        segments = [
            (candidate, list(references))
            for candidate, *references in zip(lines[system], lines["a"], lines["b"], strict=True)
        ]
        yield corpus(f"examples-{system}", "text", segments)


def odd_spaces():
    """Unusual white space in the candidate: the reference has plain spaces."""
    for name, space in ODD_SPACE.items():
        yield corpus(
            f"space-{name}", "space", [(f"a b{space}c d e", ["a b c d e"]), ("p q r", ["p q r s"])]
        )
    yield corpus("space-around", "space", [(" a b c d e ", ["a b c d e"])])
    yield corpus("space-only", "space", [("  ", ["a b c d e"]), ("a b c d e", ["a b c d e"])])


def sentences():
    """Single segments: from the documents, random, and with tokens that could be confused."""
    for made in [*seeds(), *edges()]:
        if len(made["candidates"]) == 1:
            yield made["name"], made["candidates"][0], made["references"][0]
    yield "joined-1", "ab c", ["a bc"]
    yield "joined-2", "a b ab c", ["ab a bc"]
    yield "space-double", "a  b c", ["a b c"]
    yield "space-double-both", "a  b c", ["a  b c"]
    yield "space-tab", "a\tb c", ["a b c"]
    yield "space-around", " a b c ", ["a b c"]
    rng = random.Random("sentences")
    for number in range(1, 201):
        vocabulary = rng.choice(["ab", "abcd", "abcdefgh"])
        lengths = rng.choice([range(1, 5), range(1, 10), [0, 1, 2, 6], range(4, 12)])
        segment = random_segment(rng, vocabulary, lengths, rng.randint(1, 4))
        yield f"random-{number}", *segment


def main():
    corpora = [*seeds(), *edges(), *random_corpora(), *texts(), *odd_spaces()]
    about = {"made_by": "tests/golden/make_corpora.py"}
    write("corpora.json", about, corpora=corpora)
    single = [
        {"name": name, "candidate": candidate, "references": references}
        for name, candidate, references in sentences()
    ]
    write("sentences.json", about, sentences=single)
    for made in (corpora, single):
        names = [element["name"] for element in made]
        assert len(names) == len(set(names))


if __name__ == "__main__":
    main()

"""Reads the corpora and writes the tables; runs on Python 3.6, which the oldest tool needs."""

import json
import pathlib

GOLDEN = pathlib.Path(__file__).resolve().parent


def read(name):
    """The content of a file of this folder."""
    with open(str(GOLDEN / name), encoding="ascii") as file:
        return json.load(file)


def read_corpora():
    """Corpora: `name`, `kind`; per segment one of `candidates` and a list in `references`."""
    return read("corpora.json")["corpora"]


def read_sentences():
    """Single segments: `name`, `candidate`, `references`."""
    return read("sentences.json")["sentences"]


def write(name, fields, **lists):
    """A JSON file with one element of the lists per line, so that differences can be read."""
    lines = ["{"]
    lines += [json.dumps(key) + ": " + json.dumps(value) + "," for key, value in fields.items()]
    for key, elements in lists.items():
        lines.append(json.dumps(key) + ": [")
        lines += [json.dumps(element, sort_keys=True) + "," for element in elements]
        lines[-1] = lines[-1].rstrip(",")
        lines.append("],")
    lines[-1] = lines[-1].rstrip(",")
    text = "\n".join([*lines, "}"]) + "\n"
    json.loads(text)
    with open(str(GOLDEN / name), "w", encoding="ascii") as file:
        file.write(text)


def outcome(compute):
    """A tool's result as a dictionary, or the error that it raises."""
    try:
        return compute()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}".rstrip(": ")}

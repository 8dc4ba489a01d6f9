"""Reads the corpora and writes the tables. It runs on Python 3.6, for the oldest tool."""

import json
import pathlib

GOLDEN = pathlib.Path(__file__).resolve().parent


def read(name):
    """The content of a file of this folder."""
    with open(str(GOLDEN / name), encoding="ascii") as file:
        return json.load(file)


def read_corpora():
    """Corpora with `name`, `kind`, and, for each segment, a candidate and a list of references."""
    return read("corpora.json")["corpora"]


def read_sentences():
    """Single segments with `name`, `candidate`, `references`."""
    return read("sentences.json")["sentences"]


def write(name, fields, **lists):
    """Writes a JSON file. Each element of a list is one line, so that people can read diffs."""
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

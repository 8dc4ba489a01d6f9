"""The name of the format of totals.json, by which a run knows the file as beam-bleu's."""

FORMAT = "beam-bleu totals"
"""The first field of the file, `format`."""

FIRST_BYTES = f'{{\n"format": "{FORMAT}"'.encode("ascii")
"""The first bytes of the file."""

"""`python -m pipeline` is `beam-bleu`."""

from pipeline.main import command

command()

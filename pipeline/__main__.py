"""`python -m beam_bleu.pipeline` is `beam-bleu`."""

from beam_bleu.pipeline.main import command

command()

"""Lets `python -m beam_bleu.pipeline` run the command `beam-bleu`."""

from beam_bleu.pipeline.main import command

command()

"""Measures speed and memory, compared with other programs and with other versions of beam-bleu."""

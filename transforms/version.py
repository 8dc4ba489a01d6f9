"""The version of beam-bleu: in the package's metadata and in every signature."""

VERSION = "0.1.0"

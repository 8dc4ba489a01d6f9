"""The subcommands of beam-bleu: each one is a file with a function main."""

"""Runs beam-bleu on Google Cloud Dataflow, as a Flex Template (see README.md)."""

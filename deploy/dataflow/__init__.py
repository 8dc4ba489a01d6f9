"""Running on Google Cloud Dataflow: a Flex Template (see README.md)."""

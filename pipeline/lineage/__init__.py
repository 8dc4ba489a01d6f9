"""The lineage of runs: what each one read and wrote, as events of OpenLineage."""

"""What a run reports about itself (run.json, metrics.prom, lineage), and its temporary files."""

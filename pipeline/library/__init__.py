"""What the command offers to programs: `Evaluate`, tables of results, Beam YAML's transforms."""

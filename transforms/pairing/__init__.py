"""Sources of segments: bring candidates and references together, from files and PCollections."""

"""Gates: thresholds that a result must reach, in the run and afterwards."""

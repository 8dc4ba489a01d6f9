"""The command on a Flink cluster of this machine: two workers against one, and a long run."""

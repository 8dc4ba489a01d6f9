"""How a run ends that fails: exit codes, messages, and marks by which errors survive an engine."""

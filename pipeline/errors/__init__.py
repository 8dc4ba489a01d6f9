"""What stderr says, and how a run ends: exit codes, and marks by which errors survive an engine."""

"""How a failing run ends: exit codes, messages, and marks by which errors survive an engine."""

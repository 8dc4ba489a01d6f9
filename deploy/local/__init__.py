"""Real engines on this machine: clusters of several processes that meet on loopback."""

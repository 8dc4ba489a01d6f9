"""Real engines on this machine: clusters of several processes, all of them on loopback."""

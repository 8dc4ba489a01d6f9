"""Engines: which there are, the handshake with their workers, and jobs that were sent to them."""

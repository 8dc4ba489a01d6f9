"""Real engines on this machine: a harness for trying beam-bleu and for testing it.

Not for production: a cluster is a few processes on one machine, its ports have no
authentication, and Beam opens some of them on all interfaces (docs/engines.md).
"""

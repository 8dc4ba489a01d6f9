"""Runs real engines on this machine, to try and to test beam-bleu.

Do not use it in production: a cluster is a group of processes on one machine, its ports have no
authentication, and Beam opens some of them on all interfaces (docs/operating.md).
"""

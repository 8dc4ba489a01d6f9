"""Hosts that are groups of Linux namespaces on this machine, and clusters that run on them.

A host has its own network, host name, processes, root folder, /tmp, home and Python. Hosts share
no folder, and reach only each other.
"""

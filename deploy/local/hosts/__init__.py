"""Simulates hosts by groups of Linux namespaces on this machine, and runs clusters on them.

Each host has its own network, host name, processes, root folder, /tmp, home and Python. Hosts share
no folder, and reach only each other.
"""

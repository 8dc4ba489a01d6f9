"""Exact match and token F1 of SQuAD: everything that only these metrics have.

Rajpurkar et al. 2016, section 6.1: https://aclanthology.org/D16-1264
"""

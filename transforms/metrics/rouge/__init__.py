"""ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum: everything that only these metrics have.

Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries": https://aclanthology.org/W04-1013
"""

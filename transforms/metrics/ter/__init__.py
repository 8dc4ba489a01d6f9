"""TER: everything that only this metric has (Snover et al. 2006).

https://aclanthology.org/2006.amta-papers.25
"""

"""Sums of products: what a standard error, and a comparison of two systems, needs of a corpus.

`Moments` (`moments.py`) are a table of `UnitSums`. From the outside to the inside: segments come to
`unit_adder.py`; documents come to `document_sums.py` and then to `document_moments.py`, which
`sum_document_moments.py` wires to Beam. The `UnitAdder` adds up units that have the same systems,
for the corpus and for slices, and the compiled code of `group_sums.py` adds up their products.
"""

"""Adds up the statistics of segments: by system, slice, document and replicate.

The way of a number: each bundle of batches gets a `BatchAdder`, whose compiled code adds up the
columns of units in groups (`unit_adder.py`) and those with random weights (`replicates`). One step
adds up the totals of all bundles (`wiring/steps.py`). The segments of a document can be in several
bundles, so `documents.py` adds up the parts of documents, a shuffle brings them together, and they
are added up as units. Then the job's last step asks the totals
(`group_totals.py`) for the sums of one system or pair in one group.

`closing.py` checks that the totals hold each segment once, and `rejected.py` has what is left out.
"""

"""Adds up the statistics of segments: by system, slice, document and replicate.

Each bundle of batches gets a `BatchAdder`, whose compiled code adds up the columns of units in
groups (`unit_adder.py`) and those with random weights (`replicates`). One step adds up the totals
of all bundles (`wiring/steps.py`). The segments of a document can be in several bundles: a shuffle
brings its parts together (`documents.py`). Then the job's last step asks the totals
(`group_totals.py`) for the sums of one system or pair in one group.
"""

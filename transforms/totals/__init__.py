"""Adds up the statistics of segments: by system, slice, document and replicate.

All sums are frozen, and have a `zero` and a `+`:

- `corpus_sums.py`: one vector, the columns of a system with facts about its texts; and the products
  of these columns, if the score gets a standard error. `system_sums.py` has several systems, for
  transforms of the library that compare them.
- `slice_sums.py`, `moments/moments.py`: tables of the same by slice and system, because a corpus
  can have thousands of slices. The command adds up columns in the one, and products in the other.
- `replicates/replicates.py`: columns in which each unit has random weights.

`unit_sums.py` is what a standard error sees of them: the number of units, columns and products, of
one system or of two side by side.

The way of a number: in `summing.py`, each bundle of batches gets an adder, whose compiled code adds
up the columns of segments: `slice_adder.py`, `moments/unit_adder.py` or
`replicates/replicate_adder.py`. One step adds up the sums of all bundles (`wiring/add_up.py`). The
segments of a document can be in several bundles, so `moments/document_sums.py` adds up the parts
of documents, a shuffle brings them together, and `moments/document_moments.py` adds up whole
documents. Then the job's last step asks the sums for one system, pair or slice (`of_system`,
`of_pair`).

`closing.py` checks that the sums hold each segment once, and `rejected.py` has what is left out.
"""

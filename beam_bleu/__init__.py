"""beam-bleu's public names: BLEU and other metrics for Beam pipelines, lists and notebooks.

>>> from beam_bleu import BleuConfig, CorpusBleu

The file `__init__.pyi` lists them, for imports and for type checkers. A name is loaded when it is
first used, so the mathematics (`beam_bleu.transforms.score`,
`beam_bleu.transforms.metrics.bleu.kernel`) can be imported without Apache Beam.

The code is in the folders `transforms` (the library) and `pipeline` (the command), to which links
lead from here, so our `pipeline` does not collide with a user's own module of this name.
"""

import lazy_loader

from beam_bleu.transforms.version import VERSION

__version__ = VERSION
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

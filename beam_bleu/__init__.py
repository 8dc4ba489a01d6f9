"""BLEU and other metrics for Beam pipelines: the public names.

>>> from beam_bleu import BleuConfig, CorpusBleu

The file `__init__.pyi` lists them once, for imports and for type checkers. A name is loaded when it
is first used. So the mathematics (`beam_bleu.transforms.score`,
`beam_bleu.transforms.metrics.bleu.kernel`) can be imported without Apache Beam.

The code is in the folders `transforms` (the library) and `pipeline` (the command), to which two
links lead from here. So a user's own module `pipeline` and ours do not collide.
"""

import lazy_loader

from beam_bleu.transforms.version import VERSION

__version__ = VERSION
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

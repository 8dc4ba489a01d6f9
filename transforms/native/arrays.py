"""Names for the types of arrays."""

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

LARGEST_INTEGER = 2**63 - 1
"""The largest integer in `Integers`."""

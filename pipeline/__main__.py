"""`python -m pipeline` is `beam-bleu`."""

import sys

from pipeline.main import main

sys.exit(main())

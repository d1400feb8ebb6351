"""``python -m datasets``."""

import sys

from datasets.cli import main

sys.exit(main())

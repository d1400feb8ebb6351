"""``python -m icb``."""

import sys

from icb.cli import main

sys.exit(main())

"""Write the sources of the site: `python -m tools.site FOLDER`."""

import sys
from pathlib import Path

from .sources import write_sources

write_sources(Path(sys.argv[1]))

"""Write the programs in Python as modules: `python -m tools.documents FOLDER`."""

import sys
from pathlib import Path

from .python_programs import write_modules

write_modules(Path(sys.argv[1]))

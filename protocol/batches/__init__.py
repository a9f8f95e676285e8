"""Record batches of magic 2: header, records, compression and control records."""

import os

if os.environ.get("FAUXKA_COMPILED") == "0":
    from ..compiled_modules import RECORD_VALIDATION, load_source

    load_source(RECORD_VALIDATION, __file__)

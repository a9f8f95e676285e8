"""Record batches of magic 2: header, records, compression and control records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import cramjam_codecs as cramjam_codecs
else:
    __getattr__ = part_loader(__name__)

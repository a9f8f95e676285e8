"""Fields of Avro and Protobuf contents as text, by schemas from files or from a schema registry.

- A FieldSource (field_source.py) states what is read from a key or a value. The driver makes it, workers open it.
- A content that cannot be decoded raises UndecodableContent and never ends a job. A schema file or a registry that
  cannot be used is a BadOption.
- fastavro and protobuf (the extra `schemas`) are imported when a source is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import avro_fields as avro_fields
    from . import protobuf_fields as protobuf_fields
    from . import schema_options as schema_options
    from . import whole_contents as whole_contents
else:
    __getattr__ = part_loader(__name__)

"""Fields of Avro and Protobuf contents as text, by schemas from files or from a schema registry.

- A FieldSource (field_source.py) states what is read from a key or a value. The driver makes it, workers open it.
- A content that cannot be decoded raises UndecodableContent and never ends a job. A schema file or a registry that
  cannot be used is a BadOption.
- fastavro and protobuf (the extra `schemas`) are imported when a source is opened.
"""

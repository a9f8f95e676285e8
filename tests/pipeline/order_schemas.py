"""An event in Avro and in Protobuf, with an id of each type that an event id may have."""

import json
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

REFERENCE = {
    "type": "record",
    "name": "Reference",
    "namespace": "shop",
    "fields": [
        {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "digest", "type": ["null", {"type": "fixed", "name": "Digest", "size": 2}]},
    ],
}
ORDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": ["null", "long", "string"]},
        {"name": "number", "type": "int"},
        {"name": "is_paid", "type": "boolean"},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "token", "type": "bytes"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "weight", "type": "double"},
        {"name": "items", "type": {"type": "array", "items": "string"}},
        {"name": "reference", "type": ["null", REFERENCE]},
        {"name": "previous", "type": ["null", "shop.Reference"]},
    ],
}
ORDER_TEXT = json.dumps(ORDER)

_FIELD = FieldDescriptorProto
_OPTIONAL, _REPEATED = _FIELD.LABEL_OPTIONAL, _FIELD.LABEL_REPEATED


def reference_file() -> FileDescriptorProto:
    """shop/reference.proto: a message that the other file imports."""
    file = FileDescriptorProto(name="shop/reference.proto", package="shop", syntax="proto3")
    message = file.message_type.add(name="Reference")
    message.field.add(name="uuid", number=1, type=_FIELD.TYPE_STRING, label=_OPTIONAL)
    return file


def order_file() -> FileDescriptorProto:
    """shop/order.proto: the messages shop.Empty and shop.Order, and shop.Order.Line inside it."""
    file = FileDescriptorProto(name="shop/order.proto", package="shop", syntax="proto3")
    file.dependency.append("shop/reference.proto")
    file.message_type.add(name="Empty")
    order = file.message_type.add(name="Order")
    line = order.nested_type.add(name="Line")
    line.field.add(name="sku", number=1, type=_FIELD.TYPE_STRING, label=_OPTIONAL)
    state = order.enum_type.add(name="State")
    state.value.add(name="NEW", number=0)
    state.value.add(name="PAID", number=1)
    order.oneof_decl.add(name="_batch")
    order.field.add(name="id", number=1, type=_FIELD.TYPE_STRING, label=_OPTIONAL)
    order.field.add(name="number", number=2, type=_FIELD.TYPE_SINT64, label=_OPTIONAL)
    order.field.add(name="is_paid", number=3, type=_FIELD.TYPE_BOOL, label=_OPTIONAL)
    order.field.add(name="state", number=4, type=_FIELD.TYPE_ENUM, type_name=".shop.Order.State", label=_OPTIONAL)
    order.field.add(name="token", number=5, type=_FIELD.TYPE_BYTES, label=_OPTIONAL)
    order.field.add(name="reference", number=6, type=_FIELD.TYPE_MESSAGE, type_name=".shop.Reference", label=_OPTIONAL)
    order.field.add(name="weight", number=7, type=_FIELD.TYPE_DOUBLE, label=_OPTIONAL)
    order.field.add(name="tags", number=8, type=_FIELD.TYPE_STRING, label=_REPEATED)
    order.field.add(
        name="batch", number=9, type=_FIELD.TYPE_INT32, label=_OPTIONAL, oneof_index=0, proto3_optional=True
    )
    return file


def descriptor_set() -> bytes:
    """What `protoc --include_imports --descriptor_set_out` writes for shop/order.proto."""
    return FileDescriptorSet(file=[reference_file(), order_file()]).SerializeToString()


def message_class(name: str) -> type[Message]:
    """Return the class of shop.Order or another message of the files."""
    pool = DescriptorPool()
    pool.Add(reference_file())
    pool.Add(order_file())
    return GetMessageClass(pool.FindMessageTypeByName(name))

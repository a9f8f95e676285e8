"""A producer and a consumer of confluent-kafka with spans: the trace goes through the headers of the record."""

import sys

from confluent_kafka import Consumer, Producer
from opentelemetry import trace
from opentelemetry.instrumentation.confluent_kafka import ConfluentKafkaInstrumentor
from opentelemetry.sdk.trace import TracerProvider

(bootstrap,) = sys.argv[1:]

tracers = TracerProvider()
instrumentor = ConfluentKafkaInstrumentor()
producer = instrumentor.instrument_producer(Producer({"bootstrap.servers": bootstrap}), tracers)
consumer = instrumentor.instrument_consumer(
    Consumer({"bootstrap.servers": bootstrap, "group.id": "bills", "auto.offset.reset": "earliest"}), tracers
)
with trace.get_tracer("orders", tracer_provider=tracers).start_as_current_span("order") as span:
    producer.produce("orders", value="one coffee")
    producer.flush()
    print(f"sent in {span.get_span_context().trace_id:032x}")
consumer.subscribe(["orders"])
message = consumer.poll(60)
print(f"read {message.value().decode()}")
consumer.commit(message, asynchronous=False)
consumer.close()

"""The connections of tests to a broker: three layers, each with one purpose.

- WireConnection (wire_connection.py) sends any bytes and waits for frames and the end. It does not import fauxka.
- MessageClient (message_client.py) sends request messages of fauxka.protocol over it, and decodes the responses.
- RawConnection (tests/golden/raw_client.py) does the same over it without fauxka's codec, for captures of a real Kafka.

A login, a group or a transaction is a function or a small class over one of them, and opens no socket.
"""

"""The context of a request, and the Protocols that handlers and fault injection implement."""

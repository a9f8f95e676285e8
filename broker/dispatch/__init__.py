"""From a decoded request header to its handler, and fault injection on the way."""

"""The two kinds of Spark sessions: a classic one, with its own JVM, and one of Spark Connect, on a server.

- session_kind.kind_of decides which of the two a session is. No other module does.
- Only classic_session.py uses a SparkContext, an RDD or the JVM. All other modules use what both kinds have.
- A driver of Spark Connect is on the server: a Python data source is planned there, and its files are read there.
"""

"""Exports the topics of a broker to a data folder for a real Kafka."""

# The folder for exports over HTTP: in the data folder or in the working directory, which can be the same folder.
EXPORTS_FOLDER = "exports"

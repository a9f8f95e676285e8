"""Where logs are read from: segment files, or the topics of a broker."""

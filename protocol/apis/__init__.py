"""The records of the APIs, one module a subject. An API is declared here and nowhere else."""

"""The scenes of capture_streams_groups."""

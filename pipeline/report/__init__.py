"""The result of an audit as HTML, SVG and text."""

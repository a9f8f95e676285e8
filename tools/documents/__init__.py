"""The programs, files and commands of the documents, for the tests and for pyright.

- Fenced with a language, or indented by four spaces: commands, outputs and other text. A program in Python is fenced.
- `python -m tools.documents FOLDER` writes each program in Python as a module. Its lines have the numbers of the page.
- A program may use names that only the reader has, such as the code under test. readers_code.py declares them.
"""

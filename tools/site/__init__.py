"""The sources of the site: the documents at the places that they have in the repository, so that every link holds.

    python -m tools.site FOLDER

It copies the documents, and every file that one of them links to or shows, and makes the page of OpenAPI.
mkdocs.yml has the pages in their order; `mkdocs build --strict` fails on a link to what is not there.
"""

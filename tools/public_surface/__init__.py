"""The public surface as lines of text: what a release promises, compared with that of the recorded version.

- An entry is one name that users write or read, with its signature, type, bounds or default: `fauxka serve --port`.
- surface.txt has the version in its first line, then the entries in sorted sections: a change is a diff of lines.
- A difference is announced in the section "Public surface" of the newest version in CHANGELOG.md, by the line
  "- Added `NAME`: why" (or Changed, Removed). The line of a command, class or path announces everything below it too.
- Before the first release the record is that of the tree. Afterwards it is that of the last version with a date in
  CHANGELOG.md: it is written when the next one gets its date, and only if all differences are announced.
"""

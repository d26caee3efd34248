"""A file as a document in which every value has its place, and edits of it that change those bytes and no others."""

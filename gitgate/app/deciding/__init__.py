"""A person decides: the one place in which a word is signed."""

"""The only importer of pygit2; library objects never leave it."""

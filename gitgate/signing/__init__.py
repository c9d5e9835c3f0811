"""Signing and verifying, as git does it: SSH, OpenPGP and x509."""

"""What a server's hooks judge and write."""

"""The reviewer's session: what it gathers and what it does."""

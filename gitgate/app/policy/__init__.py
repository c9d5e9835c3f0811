"""What the policy says, in sentences and over past history."""

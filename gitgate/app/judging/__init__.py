"""May a guarded ref make this move? One judgement for `check`, the hooks and `land`."""

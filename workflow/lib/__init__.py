"""What the rules and scripts of the workflow call: shards, the store, the stages, the tables."""

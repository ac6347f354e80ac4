"""The folder of a run of shards: a run folder for each shard, and all of them read as one."""

FOLDER = "shards"
"""The folder of a run's shards, in the run's."""

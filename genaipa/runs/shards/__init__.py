"""The folder of a run of shards: a run folder for each shard, and all of them read as one."""

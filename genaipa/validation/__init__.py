"""Whether all data files of a workspace fit together."""

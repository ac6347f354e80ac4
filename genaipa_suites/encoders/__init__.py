"""Encoders, fine-tuned here on a suite's train split: what the seed papers measured (`encoder/MODEL`)."""

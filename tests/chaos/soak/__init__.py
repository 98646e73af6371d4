"""Checkpoints on an object store: moto's S3 server on the loopback, whose requests go wrong."""

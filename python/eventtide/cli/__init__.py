"""The command ``eventtide``, which needs an extra: ``pip install 'eventtide[cli]'``."""

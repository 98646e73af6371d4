"""The command ``eventtide``, an extra: ``pip install 'eventtide[cli]'``."""

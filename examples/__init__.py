"""Programs that show what eventtide does."""

"""What is asked of arguments: types, columns, durations."""

"""What runs in the Python workers of Spark."""

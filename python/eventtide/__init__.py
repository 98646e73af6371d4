"""Event-time watermark policies and windows for Apache Spark Structured Streaming."""

"""Real flights, stock Spark beside eventtide. Run ``python -m examples.flights``.

The modules: `data` gets the flights, `settings` lists what competes, `replay` runs the streaming
queries and leaves a `trace` of each, `measure` compares them with the truth, `repair` corrects the
results of eventtide's own windows by their late log, `table` and `page` show it, `lull` is the
last, short section, `broker` sends the flights through Kafka, and `durable` runs one setting so
that it can be killed and started again.
"""

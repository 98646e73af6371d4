"""Real flights, with stock Spark and with eventtide. Run ``python -m examples.flights``.

The modules: `data` reads the flights, and `settings` lists the compared settings. `replay` runs the
streaming queries and records a `trace` of each. `measure` compares them with the truth. `repair`
corrects the results of eventtide's windows from their late log. `table` and `page` show the
results. `lull` is the last, short section, and `broker` sends the flights through Kafka. `durable`
runs one setting so that it can be killed and restarted.
"""

package io.eventtide.chaos

import java.util.concurrent.ConcurrentHashMap

/** The runs whose file calls are watched, by the authority of their paths: `chaos://<run>/folder`.
  *
  * Two runs of one checkpoint have two names, so that one can be halted while the other goes on in
  * the same JVM.
  */
object Faults {
  private val runs = new ConcurrentHashMap[String, RunFiles]
  private val aliases = new ConcurrentHashMap[String, String]

  /** The run of a name; a new one has no fault. */
  def run(name: String): RunFiles =
    runs.computeIfAbsent(aliases.getOrDefault(name, name), new RunFiles(_))

  /** Lets a path that every run of a query has to name alike belong to the run at hand. */
  def alias(name: String, run: String): Unit = aliases.put(name, run): Unit

  /** Lets go of what is known of a run. Whatever is left of it can do nothing any more. */
  def end(name: String): Unit = {
    run(name).halt()
    run(name).release()
  }
}

package io.eventtide.engines

/** One run of a job, of which its sources and sinks tell what happens to them.
  *
  * An engine makes sources and sinks from serialized functions, so they find the run in
  * [[Run.current]]: everything is in one JVM.
  */
final class Run(spec: Spec) {
  private val answers = new Answers(spec)
  private var began = Long.MaxValue
  private var ended = Long.MinValue

  /** A source makes its first event. */
  def begin(): Unit = synchronized { began = Math.min(began, System.nanoTime) }

  /** A sink has seen its last result. */
  def sinkClosed(own: Answers): Unit = synchronized {
    ended = Math.max(ended, System.nanoTime)
    answers.merge(own)
  }

  def measured: Measured = synchronized {
    val whole = spec.events * 1e9 / (ended - began).toDouble
    Measured(whole, answers.eventSecondsPerSecond * spec.rate.toDouble, answers.byEnd)
  }
}

object Run {
  @volatile private var running: Run = _

  def current: Run = running

  /** Has the engine work once. */
  def once(engine: Engine, spec: Spec): Measured = {
    running = new Run(spec)
    System.gc()
    engine.run(spec)
    running.measured
  }
}

/** Events a second from the first event to the end of the last sink, and while windows were full,
  * as the sinks saw event time go by; and what the results were.
  */
final case class Measured(whole: Double, steady: Double, answers: Seq[(Int, Long, Long)])

/** Runs jobs, each to its end. */
trait Engine extends AutoCloseable {
  def run(spec: Spec): Unit
}

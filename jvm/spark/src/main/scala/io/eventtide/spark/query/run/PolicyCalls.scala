package io.eventtide.spark.query.run

import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}

import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.EventtideException
import io.eventtide.spark.options.{Durations, WatermarkSettings}
import io.eventtide.spark.policies.PolicyErrors
import io.eventtide.spark.query.monitor.ClockLimits

/** Runs the calls of a query's policies. For custom policies, errors are named, and calls that take
  * too long are interrupted.
  *
  * If a policy neither blocks nor checks for interruptions, it cannot be ended, and the query waits
  * for it.
  *
  * @param custom
  *   the names of the custom policies
  */
private[run] final class PolicyCalls(custom: Seq[String], mostMicros: Long) {

  def apply[A](calls: => A): A =
    if (custom.isEmpty) calls else PolicyErrors.named(limited(calls))

  private def limited[A](calls: => A): A = {
    val monitor = new Object
    var (isOver, isLate) = (false, false)
    val caller = Thread.currentThread
    val interrupt: Runnable = () =>
      monitor.synchronized {
        isLate = !isOver
        if (isLate) caller.interrupt()
      }
    val timer = PolicyCalls.Timers.schedule(interrupt, mostMicros, TimeUnit.MICROSECONDS)
    def wasInTime: Boolean = monitor.synchronized {
      isOver = true
      !isLate
    }
    val result =
      try calls
      catch { case thrown: Throwable => throw if (wasInTime) thrown else blocked(thrown) }
      finally timer.cancel(false): Unit
    if (wasInTime) result else throw blocked(null)
  }

  private def blocked(thrown: Throwable): EventtideException = {
    Thread.interrupted(): Unit // the interruption was for the policy
    val named = EventtideException(
      "POLICY_BLOCKED",
      "policy" -> custom.mkString(", "),
      "most" -> Durations.inWords(mostMicros)
    )
    named.initCause(thrown)
    named
  }
}

private[run] object PolicyCalls {
  private val Timeout = "spark.eventtide.policyTimeout"

  private lazy val Timers = {
    val timers = new ScheduledThreadPoolExecutor(
      1,
      (run: Runnable) => {
        val thread = new Thread(run, "timeouts of policies")
        thread.setDaemon(true)
        thread
      }
    )
    timers.setRemoveOnCancelPolicy(true)
    timers
  }

  def of(watermarks: Seq[WatermarkSettings], conf: SQLConf): PolicyCalls =
    new PolicyCalls(
      watermarks.flatMap(_.policy.customNames).distinct,
      ClockLimits.time(conf, Timeout, "60s")
    )
}

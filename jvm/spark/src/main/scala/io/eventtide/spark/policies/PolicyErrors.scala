package io.eventtide.spark.policies

import io.eventtide.kernel.watermark.PolicyFailure
import io.eventtide.spark.EventtideException

private[spark] object PolicyErrors {

  /** Runs calls of policies; an error of a custom policy becomes a named error. */
  def named[A](calls: => A): A =
    try calls
    catch { case failure: PolicyFailure => throw of(failure) }

  def of(failure: PolicyFailure): EventtideException = {
    val named = EventtideException(
      "POLICY_FAILED",
      "policy" -> failure.policy,
      "problem" -> failure.problem
    )
    named.initCause(failure)
    named
  }
}

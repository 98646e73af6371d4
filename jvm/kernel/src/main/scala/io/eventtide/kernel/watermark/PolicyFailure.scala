package io.eventtide.kernel.watermark

import scala.util.control.NonFatal

/** An error of a user's own policy.
  *
  * @param policy the name of its kind
  * @param problem what it did; times are in the unit of event time
  */
final class PolicyFailure(val policy: String, val problem: String, cause: Throwable = null)
    extends RuntimeException(s"policy $policy: $problem", cause)

private[watermark] object PolicyFailure {

  /** Runs a call of a policy. What it throws becomes the cause of a failure with its name; not an
    * interruption, which is meant for the query.
    */
  def in[A](policy: String, method: String)(call: => A): A =
    try call
    catch {
      case failure: PolicyFailure => throw failure
      case thrown @ (NonFatal(_) | _: LinkageError) =>
        throw new PolicyFailure(policy, s"$method failed with $thrown", thrown)
    }
}

package io.eventtide.kernel.watermark

import scala.util.control.NonFatal

/** An error of a custom policy.
  *
  * @param policy name of the policy's kind
  * @param problem description of the error; times are in the unit of event time
  */
final class PolicyFailure(val policy: String, val problem: String, cause: Throwable = null)
    extends RuntimeException(s"policy $policy: $problem", cause)

private[watermark] object PolicyFailure {

  /** Runs a call of a policy. An exception becomes the cause of a failure with the policy's name.
    * An interruption is passed on, because it is meant for the query.
    */
  def in[A](policy: String, method: String)(call: => A): A =
    try call
    catch {
      case failure: PolicyFailure => throw failure
      case thrown @ (NonFatal(_) | _: LinkageError) =>
        throw new PolicyFailure(policy, s"$method failed with $thrown", thrown)
    }
}

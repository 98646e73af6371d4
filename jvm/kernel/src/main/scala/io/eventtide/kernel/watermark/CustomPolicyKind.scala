package io.eventtide.kernel.watermark

/** A user's own kind of policy.
  *
  * A service loader finds it: extend this class by one that has a constructor without arguments, and
  * name that class in the jar's `META-INF/services/io.eventtide.kernel.watermark.CustomPolicyKind`.
  * The option `policy` then takes its name, and an option for each parameter.
  *
  *   - '''Guarantee:''' each call of an instance is checked; see `CheckedPolicy`.
  *   - '''Units:''' event times and the clock that instances receive are in microseconds since the
  *     epoch, also where the query's clock is corrected.
  *   - '''Edges:''' a kind is equal to one of the same class. Instances may run in tasks, for windows
  *     with a watermark for each key.
  *   - '''Restart:''' the name is part of saved state.
  *
  * @param name lower case letters, digits and underscores, other than the name of a policy of
  *   Eventtide's
  */
abstract class CustomPolicyKind(name: String, params: ParamSpec*)
    extends PolicyKind(name, params: _*) {

  /** Makes an instance, which holds no state of another one. It should only store `values`.
    *
    * @param values values of `params`, in their order; durations are in microseconds
    */
  def newPolicy(values: Seq[Long]): WatermarkPolicy

  final override def takesChildren: Boolean = false

  private[watermark] final def create(spec: PolicySpec): WatermarkPolicy =
    new CheckedPolicy(name, spec.ahead, PolicyFailure.in(name, "newPolicy")(newPolicy(spec.values)))
}

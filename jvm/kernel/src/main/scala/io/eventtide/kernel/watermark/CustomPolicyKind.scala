package io.eventtide.kernel.watermark

/** A custom kind of policy.
  *
  * A service loader finds it: extend this class with a class that has a constructor without
  * arguments. Name that class in the jar's
  * `META-INF/services/io.eventtide.kernel.watermark.CustomPolicyKind`. The option `policy` then
  * accepts its name, and each parameter is an option.
  *
  *   - '''Guarantee:''' each call of an instance is checked; see `CheckedPolicy`.
  *   - '''Units:''' event times and the clock that instances receive are in microseconds since the
  *     epoch, also if the query's clock is corrected.
  *   - '''Edges:''' a kind is equal to another kind of the same class. For windows with a watermark
  *     for each key, instances may run in tasks.
  *   - '''Restart:''' the name is part of saved state.
  *
  * @param name lower case letters, digits and underscores, other than the name of a built-in policy
  */
abstract class CustomPolicyKind(name: String, params: ParamSpec*)
    extends PolicyKind(name, params: _*) {

  /** Makes an instance that shares no state with another instance. It should only store `values`.
    *
    * @param values values of `params`, in their order; durations are in microseconds
    */
  def newPolicy(values: Seq[Long]): WatermarkPolicy

  final override def takesChildren: Boolean = false

  private[watermark] final def create(spec: PolicySpec): WatermarkPolicy =
    new CheckedPolicy(name, spec.ahead, PolicyFailure.in(name, "newPolicy")(newPolicy(spec.values)))
}

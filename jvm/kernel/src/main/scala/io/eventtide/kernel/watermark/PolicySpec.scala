package io.eventtide.kernel.watermark

/** A policy as a value: its name, its parameters, and a factory for instances.
  *
  *   - '''Guarantee:''' immutable, validated on construction, with structural equality.
  *   - '''Units:''' parameters are in the unit of the times that instances receive.
  *   - '''Edges:''' `create` is called once per substream; instances share nothing.
  *   - '''Restart:''' saved state is compatible while `structure` is the same; parameters may
  *     change.
  *   - '''Source:''' Jet uses a supplier; unlike it, this type has a readable `toString`.
  */
trait PolicySpec extends Serializable {

  /** The name in the registry `Policies`. */
  def name: String

  /** The names and values of the parameters, in the documented order. */
  def parameters: Seq[(String, Long)] = Nil

  /** The child policies, if it combines other policies. */
  def children: Seq[PolicySpec] = Nil

  /** The allowed disorder: how far an event may be behind the highest one. */
  def lag: Long = children.map(_.lag).maxOption.getOrElse(0)

  /** Whether the watermark can move without rows. */
  def movesWithClock: Boolean = children.exists(_.movesWithClock)

  /** Whether it measures the time since the last rows, which is meaningless while rows wait to be
    * read.
    */
  def measuresIdleness: Boolean = children.exists(_.measuresIdleness)

  /** Whether the lowest time of a batch affects the watermark. */
  def usesLowest: Boolean = children.exists(_.usesLowest)

  /** Whether late rows count towards the lowest time. */
  def usesLate: Boolean = children.exists(_.usesLate)

  /** Whether it requires substreams that are declared before their first row. */
  def needsDeclaredSubstreams: Boolean = children.exists(_.needsDeclaredSubstreams)

  /** The same policy for a clock that is `by` ahead of the rows' time. Lags behind the clock grow
    * by `by`; durations do not change.
    */
  def forClockAhead(by: Long): PolicySpec = this

  def create(): WatermarkPolicy

  /** The kinds and their nesting, without parameters; saved state must match it. */
  final def structure: String =
    if (children.isEmpty) name else children.map(_.structure).mkString(s"$name(", ", ", ")")

  final override def toString: String = {
    val values = parameters.map { case (parameter, value) => s"$parameter=$value" }
    (values ++ children.map(_.toString)).mkString(s"$name(", ", ", ")")
  }
}

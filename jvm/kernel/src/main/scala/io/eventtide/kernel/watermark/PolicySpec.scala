package io.eventtide.kernel.watermark

/** A policy as a value: what it is called, its parameters, and how to make an instance.
  *
  *   - '''Guarantee:''' immutable, validated when made, equal when everything in it is equal.
  *   - '''Units:''' parameters are in the unit of the times that the instances will see.
  *   - '''Edges:''' `create` is called once a substream; instances share nothing.
  *   - '''Restart:''' saved state fits while `structure` is the same; parameters may change.
  *   - '''Source:''' Jet hands around a supplier; this one can print itself.
  */
trait PolicySpec extends Serializable {

  /** The name under which `Policies` lists it. */
  def name: String

  /** Names and values of the parameters, in the order in which they are documented. */
  def parameters: Seq[(String, Long)] = Nil

  /** The policies that this one combines. */
  def children: Seq[PolicySpec] = Nil

  /** How far behind an event may be. */
  def lag: Long = children.map(_.lag).maxOption.getOrElse(0)

  /** Whether the watermark can move without rows. */
  def movesWithClock: Boolean = children.exists(_.movesWithClock)

  /** Whether it measures how long ago rows came, which says nothing while others wait to be read. */
  def measuresSilence: Boolean = children.exists(_.measuresSilence)

  /** Whether the lowest time of a batch matters. */
  def usesLowest: Boolean = children.exists(_.usesLowest)

  /** Whether late rows count for that too. */
  def usesLate: Boolean = children.exists(_.usesLate)

  /** Whether it makes sense only over substreams that are declared before their first row. */
  def needsDeclaredSubstreams: Boolean = children.exists(_.needsDeclaredSubstreams)

  /** The same for a clock that is so far ahead of the time that rows have: what goes by the clock's
    * own time stays behind it by as much more, durations are what they are.
    */
  def forClockAhead(by: Long): PolicySpec = this

  def create(): WatermarkPolicy

  /** Kinds and nesting without parameters: what saved state must match. */
  final def structure: String =
    if (children.isEmpty) name else children.map(_.structure).mkString(s"$name(", ", ", ")")

  final override def toString: String = {
    val values = parameters.map { case (parameter, value) => s"$parameter=$value" }
    (values ++ children.map(_.toString)).mkString(s"$name(", ", ", ")")
  }
}

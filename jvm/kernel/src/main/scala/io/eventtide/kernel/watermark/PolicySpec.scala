package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.disorder.LateTargetSpec
import io.eventtide.kernel.time.Clamped

/** A kind of policy: its parameters, and how to make an instance.
  *
  *   - '''Edges:''' if the first parameter is a duration, it is the allowed disorder: how far an event may
  *     be behind the highest event.
  */
abstract class PolicyKind(name: String, params: ParamSpec*) extends RuleKind(name, params: _*) {

  /** Whether it combines child policies. If so, it requires at least one; otherwise it accepts
    * none.
    */
  def takesChildren: Boolean = false

  /** Whether the watermark can move without rows. */
  def movesWithClock: Boolean = false

  /** Whether it measures the time since the last rows, which is meaningless while rows wait to be
    * read.
    */
  def measuresIdleness: Boolean = false

  /** Whether the lowest time of a batch affects the watermark. */
  def usesLowest: Boolean = false

  /** Whether late rows count towards the lowest time. */
  def usesLate: Boolean = false

  /** Whether its instances run only on the driver, not in tasks. */
  def onlyOnDriver: Boolean = false

  /** Whether it requires substreams that are declared before their first row. */
  def needsDeclaredSubstreams: Boolean = false

  /** Makes an instance; called once per substream. */
  private[watermark] def create(spec: PolicySpec): WatermarkPolicy
}

/** A policy as a value: its kind, the values of its parameters and its child policies.
  *
  *   - '''Guarantee:''' immutable, validated on construction, with structural equality.
  *   - '''Units:''' parameters are in the unit of the times that instances receive.
  *   - '''Edges:''' instances share nothing.
  *   - '''Restart:''' saved state is compatible while `structure` is the same; parameters may
  *     change.
  *   - '''Source:''' Jet uses a supplier; unlike a supplier, this type has a readable `toString`.
  *
  * @param values values of `kind.params`, in their order
  * @param ahead distance of the clock ahead of the rows' time
  * @param patterns for `BySubstream`: the pattern of substream names for each child policy
  */
final case class PolicySpec(
    kind: PolicyKind,
    values: Seq[Long] = Nil,
    children: Seq[PolicySpec] = Nil,
    ahead: Long = 0,
    patterns: Seq[String] = Nil
) {
  kind.check(values)
  if (children.nonEmpty != kind.takesChildren) {
    val allowed = if (kind.takesChildren) "one or more" else "absent"
    throw new InvalidArgument(s"policies inside $name", children.size, allowed)
  }
  if (targets.length > 1 || kind == BySubstream && targets.nonEmpty) {
    val allowed =
      if (kind == BySubstream) "outside of it: the late rows of all substreams count"
      else "one, whose late rows are those of the query"
    throw new InvalidArgument(s"targets inside $name", targets.length, allowed)
  }
  if (kind == BySubstream) BySubstream.checkPatterns(patterns)
  create(): Unit // rejects values that are not valid together

  /** The name in the registry `Policies`. */
  def name: String = kind.name

  /** The allowed disorder: how far an event may be behind the highest event. */
  def lag: Long = {
    val own = values.headOption.filter(_ => kind.params.head.kind == ParamKind.Duration)
    (own ++ children.map(_.lag)).maxOption.getOrElse(0)
  }

  def movesWithClock: Boolean = has(_.movesWithClock)

  def measuresIdleness: Boolean = has(_.measuresIdleness)

  def usesLowest: Boolean = has(_.usesLowest)

  def usesLate: Boolean = has(_.usesLate)

  /** The names of the policies in it that run only on the driver. */
  def onlyOnDriver: Seq[String] =
    (Option.when(kind.onlyOnDriver)(name) ++ children.flatMap(_.onlyOnDriver)).toSeq.distinct

  /** The columns whose marks it follows. */
  def markColumns: Seq[String] = {
    val own = Some(kind).collect { case marks: WatermarkFrom => marks.column }
    (own ++ children.flatMap(_.markColumns)).toSeq.distinct
  }

  /** The names of the custom policies in it. */
  def customNames: Seq[String] = {
    val own = Some(kind).collect { case custom: CustomPolicyKind => custom.name }
    (own ++ children.flatMap(_.customNames)).toSeq.distinct
  }

  /** The share of late rows that it aims at, if it does. */
  def lateTarget: Option[LateTargetSpec] = targets.headOption

  private def targets: Seq[LateTargetSpec] = {
    val own = Option.when(kind == WithLateTarget)(WithLateTarget.target(values))
    (own ++ children.flatMap(_.targets)).toSeq.distinct
  }

  def needsDeclaredSubstreams: Boolean = has(_.needsDeclaredSubstreams)

  /** The same policy for a clock that is `by` ahead of the rows' time. Lags behind the clock grow
    * by `by`; durations do not change.
    */
  def forClockAhead(by: Long): PolicySpec =
    copy(ahead = Clamped.add(ahead, by), children = children.map(_.forClockAhead(by)))

  def create(): WatermarkPolicy = kind.create(this)

  /** The policy of one substream. */
  def forSubstream(name: String): PolicySpec =
    if (kind == BySubstream) BySubstream.choose(this, name).forSubstream(name)
    else if (isBySubstream) copy(children = children.map(_.forSubstream(name)))
    else this

  /** Whether the policy of a substream depends on its name. */
  val isBySubstream: Boolean = kind == BySubstream || children.exists(_.isBySubstream)

  /** The kinds and their nesting, without parameters; saved state must match it. */
  def structure: String =
    if (kind == BySubstream) BySubstream.structure(this)
    else if (children.isEmpty) name
    else children.map(_.structure).mkString(s"$name(", ", ", ")")

  override def toString: String = kind.text(values, children, patterns)

  private def has(property: PolicyKind => Boolean): Boolean =
    property(kind) || children.exists(_.has(property))
}

package io.eventtide.kernel.watermark

import io.eventtide.kernel.InvalidArgument

/** A policy for each substream, chosen by the name of the substream.
  *
  *   - '''Guarantee:''' the first pattern that matches the name decides. The last pattern is `*`,
  *     so that each substream has a policy.
  *   - '''Units:''' the units of the child policies.
  *   - '''Edges:''' a `*` in a pattern matches any text, including empty text. Other characters
  *     match themselves.
  *   - '''Restart:''' as the child policies. If all child policies have the same structure, the
  *     patterns may change. Otherwise they are part of the structure.
  *   - '''Source:''' Eventtide.
  */
object BySubstream extends PolicyKind("by_substream") {

  /** The pattern that matches every name. */
  val Others = "*"

  def apply(rules: Seq[(String, PolicySpec)]): PolicySpec = {
    val (patterns, children) = rules.unzip
    PolicySpec(this, children = children, patterns = patterns)
  }

  override def takesChildren: Boolean = true

  /** Rejects missing patterns, and a pattern that can never decide. */
  private[watermark] def checkPatterns(patterns: Seq[String]): Unit = {
    def refuse(allowed: String) =
      throw new InvalidArgument("patterns of substreams", patterns.mkString(", "), allowed)
    if (patterns.distinct.length < patterns.length) refuse("each given once")
    if (!patterns.lastOption.contains(Others)) refuse(s"ended by $Others, for all other substreams")
  }

  /** The child policy for a substream. */
  private[watermark] def choose(spec: PolicySpec, name: String): PolicySpec =
    spec.children(spec.patterns.indexWhere(matches(_, name)))

  private def matches(pattern: String, name: String): Boolean = {
    val parts = pattern.split("\\*", -1).map(java.util.regex.Pattern.quote)
    name.matches(parts.mkString("(?s)", ".*", ""))
  }

  private[watermark] def structure(spec: PolicySpec): String = {
    val inside = spec.children.map(_.structure)
    val rules =
      if (inside.distinct.length == 1) inside.distinct
      else spec.patterns.lazyZip(inside).map((pattern, policy) => s"$pattern: $policy")
    rules.mkString(s"$name(", ", ", ")")
  }

  // Only a substream has a policy; see `PolicySpec.forSubstream`.
  private[watermark] def create(spec: PolicySpec): WatermarkPolicy = spec.children.last.create()
}

package io.eventtide.kernel.watermark

import java.util.{ServiceConfigurationError, ServiceLoader}

import scala.jdk.CollectionConverters._

/** The registry of policies. A new built-in policy needs one file and one line here. A service
  * loader finds custom policies.
  */
object Policies {
  val builtIn: Seq[PolicyKind] = Seq(
    WithFixedLag,
    WithLateTarget,
    LimitingLagAndDelay,
    LimitingLagAndLull,
    LimitingTimestampAndWallClockLag,
    LimitingRealTimeLag,
    WithIngestionTime,
    MinEventTime,
    MinEventTimeOfAll,
    MaxEventTime,
    StormLag,
    MinOf,
    MaxOf,
    BySubstream
  )

  /** The policy of that name: a built-in policy, or the only custom policy of that name. */
  def find(name: String): Option[PolicyKind] = builtIn.find(_.name == name).orElse {
    custom.filter(_.name == name) match {
      case Nil => None
      case Seq(only) => Some(only)
      case several =>
        val classes = several.map(_.getClass.getName).mkString(" and ")
        throw new PolicyFailure(name, s"$classes have this name")
    }
  }

  /** The custom policies in the jars that the calling thread can load classes from. */
  def custom: Seq[CustomPolicyKind] =
    try ServiceLoader.load(classOf[CustomPolicyKind]).iterator.asScala.toSeq.distinct.map(checked)
    catch {
      case broken: ServiceConfigurationError =>
        throw new PolicyFailure("of a jar", s"it cannot be loaded: ${broken.getMessage}", broken)
    }

  private def checked(kind: CustomPolicyKind): CustomPolicyKind = {
    def refuse(problem: String) =
      throw new PolicyFailure(kind.name, s"the name of ${kind.getClass.getName} $problem")
    if (!kind.name.matches("[a-z][a-z0-9_]*"))
      refuse("is not of lower case, digits and underscores")
    if ((builtIn.map(_.name) :+ WatermarkFrom.Name).contains(kind.name))
      refuse("is that of a policy of Eventtide's")
    kind
  }
}

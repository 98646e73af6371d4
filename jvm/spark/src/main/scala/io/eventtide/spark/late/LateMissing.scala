package io.eventtide.spark.late

/** What becomes of a read when a part of the late log is missing. */
private[late] sealed abstract class LateMissing(val name: String)

private[late] object LateMissing {

  /** An error says what is missing. */
  case object Fail extends LateMissing("fail")

  /** What there is is read. */
  case object Skip extends LateMissing("skip")

  val all: Seq[LateMissing] = Seq(Fail, Skip)
}

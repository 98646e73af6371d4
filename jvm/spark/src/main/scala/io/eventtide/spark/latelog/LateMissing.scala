package io.eventtide.spark.latelog

/** What becomes of a read when a part of the late log is missing. */
private[latelog] sealed abstract class LateMissing(val name: String)

private[latelog] object LateMissing {

  /** An error says what is missing. */
  case object Fail extends LateMissing("fail")

  /** What there is is read. */
  case object Skip extends LateMissing("skip")

  val all: Seq[LateMissing] = Seq(Fail, Skip)
}

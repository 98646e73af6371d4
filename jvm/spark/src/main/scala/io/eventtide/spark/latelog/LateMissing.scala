package io.eventtide.spark.latelog

/** What a read does if a part of the late log is missing. */
private[latelog] sealed abstract class LateMissing(val name: String)

private[latelog] object LateMissing {

  /** Fails with an error that names the missing part. */
  case object Fail extends LateMissing("fail")

  /** Reads the part that exists. */
  case object Skip extends LateMissing("skip")

  val all: Seq[LateMissing] = Seq(Fail, Skip)
}

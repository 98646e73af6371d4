package io.eventtide.spark.storm

import org.apache.spark.sql.Column

/** The settings of a bolt; None if a setting is not set.
  *
  * @param options
  *   the options that a window has too, such as `late_to`
  */
private[storm] final case class Bolt(
    length: Option[Extent] = None,
    slide: Option[Extent] = None,
    timestamp: Option[BoltTimestamp] = None,
    lag: Option[String] = None,
    watermarkInterval: Option[String] = None,
    lateTupleStream: Option[String] = None,
    maxEventsInMemory: Option[Int] = None,
    options: Map[String, String] = Map.empty,
    streams: Option[BoltStreams] = None,
    keys: Seq[Column] = Nil
)

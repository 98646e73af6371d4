package io.eventtide.spark.storm

import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types.StructField
import org.apache.spark.sql.{Column, DataFrame}

import io.eventtide.spark.options.OptionReader
import io.eventtide.spark.options.WindowConflicts.refuse
import io.eventtide.spark.planning.EventTimeExtractor

/** The event time of a bolt's rows.
  *
  * @param each
  *   the time of each stream by its name, or of all streams with the name `*`
  */
private[storm] final case class BoltTimestamp(
    option: String,
    each: Map[String, EventTimeExtractor]
)

/** The input streams of a bolt.
  *
  * @param frames
  *   by name; a stream without a name is `default`, as in Storm
  * @param column
  *   the column that has the stream of a row, if one DataFrame has several streams
  * @param declared
  *   the streams that the watermark waits for
  */
private[storm] final case class BoltStreams(
    frames: Seq[(String, DataFrame)],
    column: Option[Column],
    declared: Seq[String],
    areNamed: Boolean
) {
  import BoltStreams._

  /** The columns that identify streams, for the watermark. */
  def substream: Column =
    column.getOrElse(if (areNamed) col(Stream) else lit(declared.head))

  /** The union of the streams by column name. */
  def union: DataFrame = unionOf(frames)

  /** The union of the streams with their event time, and its column. */
  def timed(timestamp: BoltTimestamp): (DataFrame, String) = {
    checkStreams(timestamp)
    val times = frames.map { case (name, frame) =>
      val time = timestamp.each.getOrElse(name, timestamp.each(All))
      time.over(timestamp.option, frame, acceptsMillis = true)
    }
    times.map(_.kind).distinct.drop(1).headOption.foreach { other =>
      val first = times.head.kind.sql
      val problem = s"has type ${other.sql} in one stream and $first in another"
      refuse(
        timestamp.option,
        "times",
        problem,
        "one type for the times of all streams",
        "Cast one"
      )
    }
    times.map(_.name).distinct match {
      case Seq(Some(name)) => (union, name)
      case _ =>
        val extracted = frames.zip(times).map { case ((name, frame), time) =>
          name -> frame.withColumn(EventTimeExtractor.ExtractedColumn, time.column)
        }
        (unionOf(extracted), EventTimeExtractor.ExtractedColumn)
    }
  }

  private def checkStreams(timestamp: BoltTimestamp): Unit =
    if (!timestamp.each.contains(All)) {
      val known = frames.map(_._1)
      val differing =
        timestamp.each.keySet.diff(known.toSet) ++ known.toSet.diff(timestamp.each.keySet)
      differing.toSeq.sorted.headOption.foreach { name =>
        val problem = s"is not the time of each of the streams ${known.mkString(", ")}"
        refuse(timestamp.option, name, problem, "one for each stream", "Name each stream once")
      }
    }

  private def unionOf(frames: Seq[(String, DataFrame)]): DataFrame =
    if (!areNamed) frames.head._2
    else
      frames
        .map { case (name, frame) => frame.withColumn(Stream, lit(name)) }
        .reduce(_.unionByName(_, allowMissingColumns = true))
}

private[storm] object BoltStreams {

  /** The column with the stream of a row, if the bolt reads several streams. */
  val Stream = "_stream"

  /** The name under which a timestamp is the time of all streams. */
  val All = "*"

  def one(frame: DataFrame): BoltStreams = {
    EventTimeExtractor.checkFree(frame, EventTimeExtractor.ExtractedColumn)
    BoltStreams(Seq("default" -> frame), None, Seq("default"), areNamed = false)
  }

  def ofColumn(frame: DataFrame, stream: Column, declared: Seq[String]): BoltStreams = {
    EventTimeExtractor.checkFree(frame, EventTimeExtractor.ExtractedColumn)
    if (declared.isEmpty || declared.distinct != declared) {
      val allowed = "a list of names of streams, each once"
      refuse("declared", declared.mkString(", "), "has no name, or one twice", allowed, "Change it")
    }
    BoltStreams(Seq("default" -> frame), Some(stream), declared, areNamed = false)
  }

  def named(frames: Seq[(String, DataFrame)]): BoltStreams = {
    if (frames.isEmpty) OptionReader.missing("over", "one stream or more, by name")
    frames.foreach { case (_, frame) =>
      EventTimeExtractor.checkFree(frame, Stream)
      EventTimeExtractor.checkFree(frame, EventTimeExtractor.ExtractedColumn)
    }
    checkAlike(frames)
    BoltStreams(frames, None, frames.map(_._1), areNamed = true)
  }

  // Spark would convert two types of one name to a third type.
  private def checkAlike(frames: Seq[(String, DataFrame)]): Unit = {
    val fields = frames.flatMap { case (name, frame) => frame.schema.map(name -> _) }
    fields.groupBy(_._2.name.toLowerCase(java.util.Locale.ROOT)).values.foreach { same =>
      val (_, StructField(name, kind, _, _)) = same.head
      same.find(_._2.dataType != kind).foreach { case (stream, other) =>
        val problem = s"has $name as ${other.dataType.sql}, and another stream as ${kind.sql}"
        refuse("over", stream, problem, "one type for a column of all streams", "Cast the column")
      }
    }
  }
}

package io.eventtide.spark.storm

import org.apache.spark.sql.eventtide.StreamExecutionAccess
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{DataFrame, SparkSession}

import io.eventtide.kernel.window.WindowShape
import io.eventtide.spark.latelog.{LateHandlerQuery, LateSource}
import io.eventtide.spark.options.WindowConflicts.refuse
import io.eventtide.spark.options.{OptionReader, SizeText}
import io.eventtide.spark.planning.{EventTimeExtractor, WindowBuilder => Planned, WindowRequest}
import io.eventtide.spark.{WatermarkPolicy, WindowBuilder}

/** Translates a bolt to a window. */
private[storm] object BoltBinding {
  private val Interval = "1s" // Storm's default

  /** The bolt as a window over its rows, without its aggregates, after its checks. */
  def window(bolt: Bolt, emitsRows: Boolean): WindowBuilder = {
    val sized = shape(bolt, emitsRows)
    val timed = this.timed(bolt, sized)
    timed.changed(_.withColumns("keys", bolt.keys))
  }

  /** The late rows of a running bolt. */
  def lateStream(
      bolt: Bolt,
      streamId: String,
      query: StreamingQuery,
      window: Option[Int]
  ): DataFrame = {
    checkDeclared(bolt, streamId)
    LateHandlerQuery.await(query): Unit
    val checkpoint = StreamExecutionAccess.checkpointOf(query)
    lateStream(bolt, streamId, query.sparkSession, checkpoint, window)
  }

  def lateStream(
      bolt: Bolt,
      streamId: String,
      session: SparkSession,
      checkpoint: String,
      window: Option[Int]
  ): DataFrame = {
    checkDeclared(bolt, streamId)
    val reader = session.readStream.format(LateSource.Name).option("checkpoint", checkpoint)
    window.fold(reader)(position => reader.option("window", position.toLong)).load()
  }

  private def checkDeclared(bolt: Bolt, streamId: String): Unit =
    if (!bolt.lateTupleStream.contains(streamId)) {
      val allowed = s"a declared stream, which is ${bolt.lateTupleStream.getOrElse("none so far")}"
      val fix = "Declare it with withLateTupleStream"
      refuse("stream_id", streamId, "is not declared", allowed, fix)
    }

  private def shape(bolt: Bolt, emitsRows: Boolean): WindowRequest = {
    val (length, slide) = (bolt.length, bolt.slide) match {
      case (Some(length), Some(slide)) => (length, slide)
      case _ => OptionReader.missing("length", "a Count or a duration, with withWindow")
    }
    val own = bolt.options - "key_ttl"
    (length, slide) match {
      case (Extent.Time(size), Extent.Time(every)) if !emitsRows && size == every =>
        framed("tumbling", own, "size" -> size)
      case (Extent.Time(size), Extent.Time(every)) if !emitsRows && isFramed(size, every) =>
        framed("sliding", own, "size" -> size, "slide" -> every)
      case _ =>
        val more = bolt.maxEventsInMemory.map(most => "rows_in_memory" -> most.toString) ++
          Option.when(emitsRows)("result" -> "rows")
        val sizes = Seq(length.option("length"), slide.option("slide"))
        WindowRequest(options = bolt.options ++ more).withKind("storm", sizes.toMap)
    }
  }

  private def isFramed(size: Long, every: Long): Boolean =
    size % every == 0 && size / every <= WindowShape.MostFrames

  private def framed(
      kind: String,
      options: Map[String, String],
      sizes: (String, Long)*
  ): WindowRequest = {
    val lengths = sizes.map { case (name, micros) => name -> SizeText(micros, SizeText.Micro) }
    WindowRequest(sizes = lengths.toMap, options = options + ("profile" -> "storm"))
      .withKind(kind, Map.empty)
  }

  private def timed(bolt: Bolt, request: WindowRequest): WindowBuilder = {
    val streams = bolt.streams.getOrElse(
      OptionReader.missing("over", "a DataFrame, or several by name")
    )
    checkLateStream(bolt)
    bolt.timestamp match {
      case None =>
        checkWithoutTime(bolt, streams)
        new WindowBuilder(Some(streams.union), request.copy(usesProcessingTime = true))
      case Some(timestamp) =>
        val (rows, column) = streams.timed(timestamp)
        val names = streams.declared.zipWithIndex.map { case (name, i) => s"expected.$i" -> name }
        val policy = WatermarkPolicy
          .storm(bolt.lag.getOrElse("0s"))
          .emitEvery(bolt.watermarkInterval.getOrElse(Interval))
        val watermarked = request
          .copy(eventTime = Some(column), watermark = policy.options ++ names)
          .withColumns("substream", Seq(streams.substream))
        new WindowBuilder(Some(rows), watermarked)
    }
  }

  private def checkLateStream(bolt: Bolt): Unit =
    for (stream <- bolt.lateTupleStream; late <- bolt.options.get("late") if late != "log") {
      val problem = s"is a stream of late rows, but late '$late' writes none"
      val allowed = "late_tuple_stream with late 'log'"
      refuse("late_tuple_stream", stream, problem, allowed, "Use withLate('log')")
    }

  /** Rejects settings that require event time. */
  private def checkWithoutTime(bolt: Bolt, streams: BoltStreams): Unit = {
    val set = Seq(
      "lag" -> bolt.lag,
      "watermark_interval" -> bolt.watermarkInterval,
      "late_tuple_stream" -> bolt.lateTupleStream,
      "late" -> bolt.options.get("late"),
      "late_to" -> bolt.options.get("late_to"),
      "stream" -> streams.column.map(_.toString)
    )
    for ((name, value) <- set; one <- value) {
      val problem = "is about event time, and no timestamp is set"
      val allowed = s"$name with a timestamp field or extractor"
      refuse(name, one, problem, allowed, "Add withTimestampField('ts')")
    }
    streams.frames.foreach { case (_, frame) =>
      EventTimeExtractor.checkFree(frame, Planned.ProcessingTime)
    }
  }
}

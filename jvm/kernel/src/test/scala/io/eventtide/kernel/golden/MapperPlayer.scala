package io.eventtide.kernel.golden

import io.eventtide.kernel.InvalidArgument
import io.eventtide.kernel.watermark._

/** `event_time_mapper`: partitions are substreams, and the outputs are watermark, idle and item. */
final class MapperPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val policy = config.inside("policy")
  private val spec = GoldenPolicies.spec(policy.text("kind"), policy)
  private val substreams = new Substreams(
    spec,
    Seq(
      ThrottleByFrame(
        config.long("throttling_frame_size"),
        config.longOr("throttling_frame_offset", 0)
      )
    ),
    Some(config.longOr("idle_timeout_ms", 0)).filter(_ > 0)
  )
  private var declared = 0
  private var saidIdle = false

  def step(op: String, args: GoldenArgs): Any = op match {
    case "add_partitions" => add(args.int("count"), args.long("now_ms"))
    case "event" =>
      val ts = timeOf(args)
      val moved = substreams.observe(args.long("now_ms"), args.int("partition"), ts)
      outputs(moved) :+ List[Any]("item", args.get("ts"))
    case "idle" => outputs(substreams.tick(args.long("now_ms")))
    case "remove_partition" =>
      outputs(substreams.remove(args.int("partition"), args.long("now_ms")))
    case "restore" => restore(args.int("partition"), args.long("wm"))
    case "saved_watermark" => GoldenUnknown(substreams.report(args.int("partition")).watermark)
    case other => throw new UnknownStep(other)
  }

  private def add(count: Int, now: Long): Unit = {
    for (_ <- 0 until count) { substreams.declare(s"p$declared", now); declared += 1 }
    if (substreams.status != WatermarkStatus.Idle) saidIdle = false
  }

  /** A row that takes the partition to its saved watermark, before the first clock value. */
  private def restore(partition: Int, watermark: Long): Unit =
    if (watermark != GoldenUnknown.number) {
      val _ = substreams.observe(Long.MinValue, partition, watermark + spec.lag)
    }

  /** With `timestamp_fn: null` the source's own time counts, else the one of the event. */
  private def timeOf(args: GoldenArgs): Long = {
    val name =
      if (config.has("timestamp_fn") && config.get("timestamp_fn") == null) "native_ts" else "ts"
    if (args.get(name) == null) throw new InvalidArgument("event time", "missing", "there")
    args.long(name)
  }

  private def outputs(moved: Boolean): List[Any] = {
    val watermark = if (moved) List(List[Any]("wm", substreams.emitted.get)) else Nil
    val idle = substreams.status == WatermarkStatus.Idle
    val marker = if (idle && !saidIdle) List(List("idle")) else Nil
    saidIdle = idle
    watermark ++ marker
  }
}

object MapperPlayer {
  import Form._

  private val output =
    either(tagged("wm", number), tagged("item", either(number, name).orNull), tagged("idle"))
  private val time = number.orNull.optional

  def words(golden: GoldenCase): Vocabulary = Vocabulary(
    fields(
      "policy" -> (fields("kind" -> text) ++ parameters(golden)),
      "idle_timeout_ms" -> number.optional,
      "throttling_frame_size" -> number,
      "throttling_frame_offset" -> number.optional,
      "timestamp_fn" -> either(text).orNull.optional
    ),
    answer = either(number, listOf(output))
  )(
    "add_partitions" -> fields("count" -> number, "now_ms" -> number),
    "event" -> fields("now_ms" -> number, "partition" -> number, "ts" -> time, "native_ts" -> time),
    "idle" -> fields("now_ms" -> number),
    "remove_partition" -> fields("partition" -> number, "now_ms" -> number),
    "restore" -> fields("partition" -> number, "wm" -> number),
    "saved_watermark" -> fields("partition" -> number)
  )

  private def parameters(golden: GoldenCase): Fields = {
    val policy = golden.config.getOrElse("policy", null)
    anyObject.check("config: policy", policy)
    val kind = GoldenFiles.fieldsOf(policy).get("kind")
    PolicyPlayer.parametersOf(kind.fold("without a kind")(String.valueOf))
  }
}

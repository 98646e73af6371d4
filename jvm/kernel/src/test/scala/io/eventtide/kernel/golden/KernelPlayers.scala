package io.eventtide.kernel.golden

import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.watermark._
import io.eventtide.kernel.window.SlidingWindow

/** `throttle.*`: `inner` sets the ideal watermark, `report` and `tick` offer it. */
final class ThrottlePlayer(kind: String, config: GoldenArgs) extends GoldenPlayer {
  private val throttle = kind match {
    case "policy_frame" =>
      ThrottleByFrame(config.long("frame_size"), config.longOr("frame_offset", 0)).create()
    case "policy_min_step" => ThrottleByMinStep(config.long("min_step")).create()
    case other => throw new GoldenWaiting(s"no throttle $other")
  }
  private var inner = GoldenUnknown.number

  def step(op: String, args: GoldenArgs): Any = op match {
    case "inner" => inner = args.long("value")
    case "report" | "tick" =>
      if (inner != GoldenUnknown.number) throttle.offer(0, inner): Unit
      GoldenUnknown(throttle.known, throttle.emitted)
    case other => throw new UnknownStep(other)
  }
}

object ThrottlePlayer {
  import Form._

  def words(kind: String): Vocabulary = Vocabulary(
    kind match {
      case "policy_frame" => fields("frame_size" -> number, "frame_offset" -> number.optional)
      case "policy_min_step" => fields("min_step" -> number)
      case other => throw new GoldenWaiting(s"no throttle $other")
    },
    answer = number
  )("inner" -> fields("value" -> number), "report" -> fields(), "tick" -> fields())
}

/** `frames`: windows or frames, and what becomes of them. */
final class FramePlayer(config: GoldenArgs) extends GoldenPlayer {
  FramePlayer.check(config)

  private val before: SlidingWindow =
    if (config.has("tumbling")) SlidingWindow.tumbling(config.long("tumbling"))
    else if (config.has("window_size"))
      SlidingWindow(config.long("window_size"), config.long("slide_by"))
    else {
      val size = config.long("frame_size")
      val frames = config.longOr("frames_per_window", 1)
      SlidingWindow(size * frames, size, config.longOr("frame_offset", 0))
    }
  private val window = config.get("then") match {
    case null => before
    case "to_tumbling_by_frame" => before.copy(size = before.slide)
    case _ => before.copy(offset = config.inside("then").long("with_offset"))
  }

  def step(op: String, args: GoldenArgs): Any = op match {
    case "floor" => window.frame.floor(args.long("ts"))
    case "higher" => window.frame.higher(args.long("ts"))
    case "props" => props
    case other => throw new UnknownStep(other)
  }

  private def props: Map[String, Any] = {
    val Frame(size, offset) = window.frame
    Map(
      "frame_size" -> size,
      "frame_offset" -> offset,
      "frame_offset_before" -> before.frame.offset,
      "window_size" -> window.size,
      "frames_per_window" -> window.size / size
    )
  }
}

object FramePlayer {
  import Form._

  private val props = Seq(
    "frame_size",
    "frame_offset",
    "frame_offset_before",
    "window_size",
    "frames_per_window"
  )
  private val numbers =
    Seq("tumbling", "window_size", "slide_by", "frame_size", "frames_per_window", "frame_offset")

  val words: Vocabulary = Vocabulary(
    fields(numbers.map(_ -> number.optional): _*) ++ fields(
      "then" -> either(oneOf("to_tumbling_by_frame"), fields("with_offset" -> number)).optional
    ),
    answer = either(number, fields(props.map(_ -> number.optional): _*))
  )("floor" -> fields("ts" -> number), "higher" -> fields("ts" -> number), "props" -> fields())

  /** The settings of which windows are made, each with those that go with it. */
  private val makings =
    Seq(
      Set("tumbling"),
      Set("window_size", "slide_by"),
      Set("frame_size", "frames_per_window", "frame_offset")
    )

  def check(config: GoldenArgs): Unit = {
    val made = config.values.keySet - "then"
    val known = makings.exists(making => made.contains(making.head) && made.subsetOf(making))
    if (!known) throw new GoldenWaiting(s"no frames of ${made.toSeq.sorted.mkString(", ")}")
  }
}

/** `watermark_coalescer`: watermarks, idleness and the end of several inputs. */
final class CoalescerPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val coalescer = new Coalescer(config.int("queues"))

  def step(op: String, args: GoldenArgs): Any = op match {
    case "wm" => released(coalescer.watermark(args.int("queue"), args.long("ts")))
    case "idle" => released(coalescer.idle(args.int("queue")))
    case "done" => released(coalescer.done(args.int("queue")))
    case "event" => coalescer.event(args.int("queue")); GoldenUnknown.number
    case "top" => GoldenUnknown(coalescer.top)
    case "coalesced" => GoldenUnknown(coalescer.coalesced)
    case "idle_message_pending" => coalescer.idleMessagePending
    case other => throw new UnknownStep(other)
  }

  private def released(rose: Boolean): Long = GoldenUnknown(coalescer.coalesced.filter(_ => rose))
}

object CoalescerPlayer {
  import Form._

  private val queue = fields("queue" -> number)

  val words: Vocabulary =
    Vocabulary(fields("queues" -> number, "no_new_wm" -> remark), either(number, flag))(
      "wm" -> fields("queue" -> number, "ts" -> number),
      "idle" -> queue,
      "done" -> queue,
      "event" -> queue,
      "top" -> fields(),
      "coalesced" -> fields(),
      "idle_message_pending" -> fields()
    )
}

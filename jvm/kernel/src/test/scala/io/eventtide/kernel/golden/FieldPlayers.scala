package io.eventtide.kernel.golden

import java.math.{BigDecimal, RoundingMode}

import scala.collection.mutable

import io.eventtide.kernel.golden.Form._
import io.eventtide.kernel.watermark._

/** Plays cases of the wider field, whose steps carry their arguments beside `op`. */
object FieldScript {

  /** Plays a case, once for each variant of its config.
    *
    * @param words what the player knows
    * @param atEnd what it can say after the last step
    */
  def play(
      golden: GoldenCase,
      words: Vocabulary,
      build: GoldenArgs => GoldenPlayer,
      atEnd: Fields = fields()
  ): Unit = {
    words.checkFlat(golden, fields("final" -> atEnd.optional), OfStep)
    checkExpectations(golden, words)
    variantsOf(golden).foreach(play(golden, _, build))
  }

  private val OfStep = Set("expect", "expect_by_variant", "note")

  private def variantsOf(golden: GoldenCase): List[String] =
    golden.config.get("variants").fold(List(""))(_.asInstanceOf[List[String]])

  /** Every expectation is one that is compared: with each variant or with all. */
  private def checkExpectations(golden: GoldenCase, words: Vocabulary): Unit =
    golden.steps.foreach { step =>
      if (step.contains("expect") && step.contains("expect_by_variant"))
        throw new GoldenWaiting("a step with both expect and expect_by_variant")
      step.get("expect").foreach(listOf(words.answer).check("expect", _))
      step.get("expect_by_variant").foreach { byVariant =>
        val each = variantsOf(golden).map(_ -> listOf(words.answer))
        fields(each: _*).check("expect_by_variant", byVariant)
      }
    }

  private def play(
      golden: GoldenCase,
      variant: String,
      build: GoldenArgs => GoldenPlayer
  ): Unit = {
    val profile = golden.fields.getOrElse("profile", "")
    val about = Map("steps" -> golden.steps, "profile" -> profile)
    val player = build(GoldenArgs(golden.config ++ about + ("variant" -> variant)))
    golden.steps.zipWithIndex.foreach { case (step, at) =>
      val answer = player.step(step("op").toString, GoldenArgs(step)).asInstanceOf[List[Any]]
      expected(step, variant).foreach(compare(s"step $at, $step", _, answer))
    }
    golden.fields.get("final").map(GoldenFiles.fieldsOf).foreach { expect =>
      val answer = GoldenFiles.fieldsOf(player.step("final", GoldenArgs(Map.empty)))
      expect.foreach { case (key, value) =>
        JetScript.same(key, value, rounded(answer(key), value))
      }
    }
  }

  /** A mean is expected with as many digits as the case shows. */
  private def rounded(answer: Any, expect: Any): Any = (answer, expect) match {
    case (mean: BigDecimal, shown: BigDecimal) =>
      mean.setScale(shown.scale, RoundingMode.HALF_EVEN)
    case (mean: BigDecimal, _: Long) if mean.stripTrailingZeros.scale <= 0 => mean.longValueExact
    case _ => answer
  }

  private def expected(step: Map[String, Any], variant: String): Option[Any] =
    step.get("expect") orElse
      step.get("expect_by_variant").map(GoldenFiles.fieldsOf(_)(variant))

  /** What a combination of inputs says. */
  val spoken: Form = either(fields("watermark" -> number), fields("status" -> text))

  /** Rows `i = 0 .. n - 1` at `step * i`, of value `i`. */
  def generated(args: GoldenArgs): Seq[GoldenArgs] =
    (0L until args.long("n")).map { i =>
      val row = Map[String, Any]("ts" -> args.long("step") * i, "value" -> i)
      GoldenArgs(row + ("key" -> args.values.getOrElse("key", "all")))
    }

  val generate: (String, Fields) =
    "generate" -> fields("n" -> number, "step" -> number, "key" -> text.optional)

  /** The order counts only where a watermark and a status are both listed. */
  private def compare(where: String, expect: Any, answer: List[Any]): Unit = {
    val expected = expect.asInstanceOf[List[Any]]
    val listed = expected.collect { case fields: Map[_, _] => fields.keys.map(_.toString) }.flatten
    if (listed.contains("watermark") && listed.contains("status"))
      JetScript.same(where, expected, answer)
    else JetScript.same(where, expected.groupBy(identity), answer.groupBy(identity))
  }
}

/** What a combination of inputs says: a watermark when it rose, a status when that changed. */
private final class Spoken(coalescer: Coalescer) {
  private var idle = false

  def after(act: => Boolean): List[Any] = {
    val rose = act
    val watermark = if (rose) List(Map("watermark" -> coalescer.coalesced.get)) else Nil
    val wasIdle = idle
    idle = coalescer.idleMessagePending
    if (idle && !wasIdle) watermark :+ Map("status" -> "idle")
    else if (wasIdle && !idle) Map("status" -> "active") :: watermark
    else watermark
  }
}

/** `field.combiner`: Flink's input channels. */
final class CombinerPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val coalescer = new Coalescer(config.int("channels"))
  private val spoken = new Spoken(coalescer)

  def step(op: String, args: GoldenArgs): Any = op match {
    case "channel_watermark" => spoken.after(coalescer.raise(args.int("channel"), args.long("at")))
    case "channel_status" => spoken.after(status(args.int("channel"), args.text("status")))
    case other => throw new UnknownStep(other)
  }

  private def status(channel: Int, status: String): Boolean = status match {
    case "idle" => coalescer.idle(channel)
    case "active" => coalescer.event(channel); false
    case other => throw new GoldenWaiting(s"channel_status: unknown status $other")
  }
}

object CombinerPlayer {
  val words: Vocabulary = Vocabulary(fields("channels" -> number), FieldScript.spoken)(
    "channel_watermark" -> fields("channel" -> number, "at" -> number),
    "channel_status" -> fields("channel" -> number, "status" -> oneOf("idle", "active"))
  )
}

/** `field.split_multiplexer`: splits come and go; a deferred case speaks only when it is probed. */
final class MultiplexerPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val steps = config.values("steps").asInstanceOf[Seq[Map[String, Any]]]
  private val coalescer = new Coalescer(steps.count(_("op") == "register"))
  private val deferred = config.get("mode") == "deferred"
  private val splits = mutable.Map.empty[String, Int]
  private val leaving = mutable.Buffer.empty[Int]
  private var registered = 0
  private var unsaid = false
  for (i <- 0 until steps.count(_("op") == "register")) coalescer.idle(i): Unit

  def step(op: String, args: GoldenArgs): Any = op match {
    case "register" => register(args.text("split")); Nil
    case "unregister" => leaving += splits.remove(args.text("split")).get; Nil
    case "split_watermark" => report(coalescer.raise(splits(args.text("split")), args.long("at")))
    case "split_idle" => report(coalescer.idle(splits(args.text("split"))))
    case "split_active" => report { coalescer.event(splits(args.text("split"))); false }
    case "probe" => unsaid |= leave(); say()
    case other => throw new UnknownStep(other)
  }

  private def register(split: String): Unit = {
    splits(split) = registered
    coalescer.event(registered)
    registered += 1
  }

  /** What left since the last report leaves with this one. */
  private def report(act: => Boolean): List[Any] = {
    unsaid |= leave() | act
    if (deferred) Nil else say()
  }

  private def leave(): Boolean = {
    val rose = leaving.toList.map(coalescer.done).contains(true)
    leaving.clear()
    rose
  }

  private def say(): List[Any] = {
    val said = if (unsaid) List(Map("watermark" -> coalescer.coalesced.get)) else Nil
    unsaid = false
    said
  }
}

object MultiplexerPlayer {
  private val split = fields("split" -> text)

  val words: Vocabulary =
    Vocabulary(fields("mode" -> oneOf("immediate", "deferred")), FieldScript.spoken)(
      "register" -> split,
      "unregister" -> split,
      "split_watermark" -> (split ++ fields("at" -> number)),
      "split_idle" -> split,
      "split_active" -> split,
      "probe" -> fields()
    )
}

/** `field.generator`: a policy a key, asked by probes; rows answer too. */
final class GeneratorPlayer(config: GoldenArgs) extends GoldenPlayer {
  private val spec: PolicySpec =
    if (config.has("wait")) LimitingLagAndLull(config.long("wait"), 0)
    else WithFixedLag(config.longOr("bound", 0))
  private val inclusive = s"${config.get("watermark_meaning")}".startsWith("inclusive")
  private val policies = mutable.Map.empty[Any, WatermarkPolicy]
  private var now = 0L

  def step(op: String, args: GoldenArgs): Any = op match {
    case "clock" => now = args.long("to"); Nil
    case "clock_advance" => now += args.long("by"); Nil
    case "event" => policy(args).observe(now, args.long("ts")); answer(policy(args))
    case "probe" | "query" => policy(args).tick(now); answer(policy(args))
    case "generate" => generate(args); Nil
    case "eof" => List(Map("watermark" -> "MAX"))
    case other => throw new UnknownStep(other)
  }

  private def generate(args: GoldenArgs): Unit =
    FieldScript.generated(args).foreach(row => policy(row).observe(now, row.long("ts")))

  private def policy(args: GoldenArgs): WatermarkPolicy =
    policies.getOrElseUpdate(args.get("key"), spec.create())

  private def answer(policy: WatermarkPolicy): List[Any] = List(
    Map("watermark" -> (if (!policy.known) "MIN" else policy.watermark - (if (inclusive) 1 else 0)))
  )
}

object GeneratorPlayer {

  def words(golden: GoldenCase): Vocabulary =
    Vocabulary(settings(golden), answer = fields("watermark" -> number))(
      "clock" -> fields("to" -> number),
      "clock_advance" -> fields("by" -> number),
      "event" -> fields("ts" -> number, "key" -> text.optional),
      FieldScript.generate,
      "probe" -> fields("key" -> text.optional),
      "query" -> fields("key" -> text.optional),
      "eof" -> fields()
    )

  private def settings(golden: GoldenCase): Fields = {
    val ofPolicy = (golden.config.get("generator"), golden.config.contains("wait")) match {
      case (Some("bounded_out_of_orderness"), false) => fields("bound" -> number)
      case (Some("ascending_timestamps"), false) => fields()
      case (None, true) => fields("wait" -> number)
      case (generator, _) =>
        throw new GoldenWaiting(s"no policy for the generator ${generator.getOrElse("of rows")}")
    }
    ofPolicy ++ fields(
      "generator" -> text.optional,
      "watermark_meaning" -> meaning.optional,
      "unit" -> remark,
      "key_scope" -> oneOf("per key").optional
    )
  }

  private val meaning = oneOf("inclusive (no more ts <= W)", "exclusive (no more ts < W)")
}

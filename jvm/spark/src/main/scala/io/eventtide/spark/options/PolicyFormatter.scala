package io.eventtide.spark.options

import java.time.Duration
import java.time.temporal.ChronoUnit

import io.eventtide.kernel.watermark.{ParamKind, ParamSpec, PolicySpec, RuleKind}

/** Formats a policy and its decorators as a tree: one rule per line, durations in ISO 8601. */
private[spark] object PolicyFormatter {

  /** The rules, outermost first: the last applied decorator comes first. */
  def lines(settings: WatermarkSettings): Seq[String] = {
    val guard = settings.guard.map { guard =>
      s"guard_future(max_ahead=${duration(guard.maxAhead)}, on=${guard.mode.name})"
    }
    val throttles = settings.throttles.map { throttle =>
      call(throttle.kind, throttle.values)
    }
    nested(throttles.reverse ++ guard, policy(settings.policy))
  }

  def duration(micros: Long): String = Duration.of(micros, ChronoUnit.MICROS).toString

  private def nested(outer: Seq[String], inner: Seq[String]): Seq[String] =
    outer.foldRight(inner)((line, below) => line +: branch(below))

  private def policy(spec: PolicySpec): Seq[String] =
    call(spec.kind, spec.values) +:
      spec.children.flatMap(child => branch(policy(child)))

  private def branch(lines: Seq[String]): Seq[String] =
    s"+- ${lines.head}" +: lines.tail.map(line => s"   $line")

  private def call(kind: RuleKind, values: Seq[Long]): String =
    options(kind, values)
      .map { case (name, value) => s"$name=$value" }
      .mkString(s"${kind.name}(", ", ", ")")

  /** The names and values of the parameters, as users write them. */
  def options(kind: RuleKind, values: Seq[Long]): Seq[(String, String)] =
    kind.texts ++ kind.params.zip(values).map { case (param, value) =>
      param.name -> text(param, value)
    }

  /** The value of a parameter, as users write it. */
  def text(param: ParamSpec, value: Long): String = param.kind match {
    case ParamKind.Duration => duration(value)
    case ParamKind.Count => value.toString
    case ParamKind.Share => ShareText.text(value)
    case ParamKind.Choice(words) => words(value.toInt)
  }
}

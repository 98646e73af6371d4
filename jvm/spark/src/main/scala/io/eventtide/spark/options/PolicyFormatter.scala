package io.eventtide.spark.options

import java.time.Duration
import java.time.temporal.ChronoUnit

import io.eventtide.kernel.watermark.{ParamKind, ParamSpec, Policies, PolicySpec, Throttles}

/** Formats a policy and its decorators as a tree: one rule per line, durations in ISO 8601. */
private[spark] object PolicyFormatter {

  /** The rules, outermost first: the decorator that is applied last comes first. */
  def lines(settings: WatermarkSettings): Seq[String] = {
    val guard = settings.guard.map { guard =>
      s"guard_future(max_ahead=${duration(guard.maxAhead)}, on=${guard.mode.name})"
    }
    val throttles = settings.throttles.map { throttle =>
      call(throttle.name, throttle.parameters, Throttles.reader(throttle.name).params)
    }
    nested(throttles.reverse ++ guard, policy(settings.policy))
  }

  def duration(micros: Long): String = Duration.of(micros, ChronoUnit.MICROS).toString

  private def nested(outer: Seq[String], inner: Seq[String]): Seq[String] =
    outer.foldRight(inner)((line, below) => line +: branch(below))

  private def policy(spec: PolicySpec): Seq[String] =
    call(spec.name, spec.parameters, Policies.reader(spec.name).params) +:
      spec.children.flatMap(child => branch(policy(child)))

  private def branch(lines: Seq[String]): Seq[String] =
    s"+- ${lines.head}" +: lines.tail.map(line => s"   $line")

  private def call(name: String, values: Seq[(String, Long)], params: Seq[ParamSpec]): String = {
    val durations = params.filter(_.kind == ParamKind.Duration).map(_.name).toSet
    values
      .map { case (key, value) =>
        s"$key=${if (durations(key)) duration(value) else value.toString}"
      }
      .mkString(s"$name(", ", ", ")")
  }
}

package io.eventtide.spark.planning

import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions

import io.eventtide.kernel.window.{Cumulative, Sliding, WindowShape}
import io.eventtide.spark.options.{
  EmitSettings,
  LateMode,
  LateSettings,
  NamedTrigger,
  PolicyFormatter,
  WindowKind
}
import io.eventtide.spark.state.Inverse

/** Describes in words the behaviour of one window of a plan. */
private[planning] object WindowExplanation {

  def describe(position: Int, window: WindowAggregate, json: ObjectNode): Unit = {
    val settings = window.settings
    json.put("position", position).put("kind", s"${settings.kind}(${settings.sizes})")
    json.put("bounds", settings.windows.bounds)
    json.put("delay", PolicyFormatter.duration(settings.delay))
    json.put("results", settings.emit.fold("one row a window")(results))
    json.put("combining", combining(window))
    json
      .put("lateRule", settings.windows.lateRule.name)
      .put("lateRows", lateRows(settings.late)): Unit
  }

  private def results(emit: EmitSettings): String = {
    val late = Option.when(emit.latenessMicros > 0)(
      s"updated for ${PolicyFormatter.duration(emit.latenessMicros)}"
    )
    val holds = if (emit.discards) "the new rows" else "all rows"
    s"panes (${(emit.triggers.map(described) ++ late).mkString(", ")}), each of $holds"
  }

  private def described(of: NamedTrigger): String = of.name match {
    case "every" => s"every ${PolicyFormatter.duration(of.trigger.every.get)}"
    case "every_rows" => s"every ${of.trigger.rows.get} rows"
    case other => other.replace('_', ' ')
  }

  private def combining(window: WindowAggregate): String = window.settings.windows match {
    case WindowKind.ByTime(spec) => combining(window, spec.shape)
    case WindowKind.ByCount(spec) => combining(window, spec.shape)
    case _: WindowKind.BySession => "one buffer a session"
    case storm: WindowKind.RetainingRows if storm.emitsRows => "each row once, passed to a function"
    case _: WindowKind.RetainingRows => "each row once, merged as a tree"
  }

  private def combining(window: WindowAggregate, shape: WindowShape): String = shape match {
    case WindowShape.OneFrame => "one buffer a window"
    case _: Cumulative => "one buffer, which grows"
    case Sliding(frames, _, _, _) if deducts(window) => s"deducts the oldest of $frames frames"
    case Sliding(frames, _, _, _) => s"two stacks of $frames frames"
  }

  // `WindowStrategy` sees the aggregates after the optimizer has replaced some of them.
  private def deducts(window: WindowAggregate): Boolean = {
    val calls = ReplaceExpressions(window.child).expressions.flatMap(_.collect {
      case call: AggregateExpression => call
    })
    Inverse.of(calls).isDefined
  }

  private def lateRows(late: LateSettings): String = late.mode match {
    case LateMode.Log => s"logged in ${late.to.getOrElse("late, in the checkpoint")}"
    case LateMode.Count => "counted"
    case LateMode.Fail => "fail the query"
  }
}

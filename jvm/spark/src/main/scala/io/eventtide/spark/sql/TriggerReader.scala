package io.eventtide.spark.sql

import org.apache.spark.sql.Column
import org.apache.spark.sql.eventtide.SparkInternals

import io.eventtide.spark.options.TriggerCodec

/** Reads the triggers of a window: `triggers => (at_window_end, every('10s'), when(n >= 100))`. */
private[sql] final class TriggerReader(call: FunctionCall) {
  private val values = new ArgumentReader(call.session)
  private val times = new TimeReader(call.session)
  private val lists = new ExpressionList(call.session)

  private val triggers: Seq[Call] =
    call.get("triggers").toSeq.flatMap(of => lists.expressions(of).map(Call.of(of, _)))

  def options: Map[String, String] = {
    val names = triggers.map(_.name)
    names.diff(names.distinct).headOption.foreach { twice =>
      triggers.head.argument.refuse(
        "INVALID_CHOICE",
        "value" -> twice,
        "allowed" -> "triggers of different names"
      )
    }
    val own = triggers.flatMap(option)
    if (triggers.isEmpty) Map.empty else own.toMap + ("triggers" -> names.mkString(","))
  }

  /** The condition of a trigger. */
  def condition: Option[Column] = triggers.find(_.name == "when").map { trigger =>
    SparkInternals.column(lists.one(value(trigger, "condition")))
  }

  private def option(trigger: Call): Option[(String, String)] = trigger.name match {
    case "every" => Some("every" -> times.duration(value(trigger, "every"), isPositive = true))
    case "every_rows" => Some("every_rows" -> values.count(value(trigger, "every_rows")))
    case "when" => value(trigger, "condition"): Unit; None
    case name if TriggerCodec.Names.contains(name) =>
      trigger.named(Nil): Unit
      None
    case name =>
      trigger.argument.refuse(
        "INVALID_CHOICE",
        "value" -> name,
        "allowed" -> TriggerCodec.Names.mkString(", ")
      )
  }

  // The value needs no name.
  private def value(trigger: Call, name: String): Argument = trigger.values match {
    case Seq(only) => trigger.parameter(name, only)
    case _ =>
      val pattern = s"${trigger.name}(${TriggerReader.Examples(trigger.name)})"
      trigger.argument.refuse("SQL_CALL", "value" -> trigger.argument.text, "call" -> pattern)
  }
}

private[sql] object TriggerReader {
  private val Examples = Map("every" -> "'10s'", "every_rows" -> "1000", "when" -> "n >= 1000")
}

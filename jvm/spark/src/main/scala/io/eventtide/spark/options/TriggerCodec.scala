package io.eventtide.spark.options

import io.eventtide.kernel.window.Trigger

/** Reads named triggers. Their parameters are the options of early panes. */
private[options] object TriggerCodec {
  private val Names = Seq("at_window_end", "on_update", "every", "every_rows", "when")

  def read(options: OptionReader, early: Option[PaneSettings]): Seq[NamedTrigger] =
    options.get("triggers").toSeq.flatMap(_.split(',')).map { name =>
      NamedTrigger(name, trigger(name, early))
    }

  private def trigger(name: String, early: Option[PaneSettings]): Trigger = name match {
    case "at_window_end" => Trigger.AtEnd
    case "on_update" => Trigger(onUpdate = true)
    case "every" =>
      Trigger(every = early.flatMap(_.earlyEveryMicros).orElse(missing("early.every")))
    case "every_rows" => Trigger(rows = early.flatMap(_.earlyRows).orElse(missing("early.rows")))
    case "when" if early.exists(_.hasCondition) => Trigger(onCondition = true)
    case "when" => missing("when")
    case other => OptionReader.unknown("triggers", other, Names.mkString(", "))
  }

  private def missing(option: String): Nothing =
    OptionReader.missing(option, "one of the triggers needs it")
}

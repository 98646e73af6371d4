package io.eventtide.spark.options

import io.eventtide.kernel.window.Trigger

/** Reads the triggers of a window; for two of them, the option with the trigger's name has its
  * value.
  */
private[spark] object TriggerCodec {
  val Names: Seq[String] = Seq("at_window_end", "on_update", "every", "every_rows", "when")

  /** The trigger of a window whose results may change, but that names none. */
  def atEnd: Seq[NamedTrigger] = Seq(NamedTrigger("at_window_end", Trigger.AtEnd))

  def read(options: OptionReader, hasCondition: Boolean): Seq[NamedTrigger] = {
    def trigger(name: String): Trigger = name match {
      case "at_window_end" => Trigger.AtEnd
      case "on_update" => Trigger(onUpdate = true)
      case "every" =>
        Trigger(every =
          options.duration("every", 1000).orElse(missing(name, "a duration of 1ms or more"))
        )
      case "every_rows" =>
        Trigger(rows = options.count("every_rows", 1).orElse(missing(name, "a number of rows")))
      case "when" if hasCondition => Trigger(onCondition = true)
      case "when" => missing(name, "a condition over the results")
      case other => OptionReader.unknown("triggers", other, Names.mkString(", "))
    }
    options.get("triggers").toSeq.flatMap(_.split(',')).map { name =>
      NamedTrigger(name, trigger(name))
    }
  }

  private def missing(option: String, value: String): Nothing =
    OptionReader.missing(option, s"$value, which the trigger '$option' needs")
}

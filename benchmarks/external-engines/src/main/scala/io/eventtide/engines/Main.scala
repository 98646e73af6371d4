package io.eventtide.engines

import scala.util.control.NonFatal

/** Has one engine work as the arguments say, and prints one line of JSON. */
object Main {

  def main(arguments: Array[String]): Unit = {
    // Engines leave threads behind, which nothing else would end.
    try {
      println(json(work(Spec.of(arguments.toSeq))))
      sys.exit(0)
    } catch {
      case NonFatal(failure) =>
        failure.printStackTrace()
        sys.exit(1)
    }
  }

  private def work(spec: Spec): Seq[Measured] = {
    val engine = start(spec.engine)
    val runs = List.fill(spec.warmups + spec.runs)(Run.once(engine, spec))
    engine.close()
    require(runs.map(_.answers).distinct.size == 1, "the runs have different answers")
    runs.drop(spec.warmups)
  }

  private def start(engine: String): Engine = engine match {
    case "jet" => new JetEngine(JetAggregate.allOf)
    case "jet-own" => new JetEngine(JetAggregate.own)
    case "flink-sql" => new FlinkSqlEngine
    case _ => sys.error(s"engine is $engine, but must be one of: jet, jet-own, flink-sql")
  }

  private def json(runs: Seq[Measured]): String = {
    val answers = runs.head.answers.map { case (end, results, sum) => s"[$end,$results,$sum]" }
    val fields = Seq(
      "whole" -> runs.map(run => Math.round(run.whole)),
      "steady" -> runs.map(run => Math.round(run.steady)),
      "answers" -> answers
    )
    fields
      .map { case (name, list) => s""""$name":[${list.mkString(",")}]""" }
      .mkString("{", ",", "}")
  }
}

package io.eventtide.spark.connect

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.connect.ConnectAnswers.{Answers, done, json}

/** The answers for a query with a handler of late rows. */
private[connect] object HandlerAnswers {

  val All: Answers = Map(
    "follow_late" -> Answer.ofQuery("window") { of =>
      val options = PythonApi.followLate(of.query, of.message.count("window", least = 0))
      Option(options).map(json(_)).orNull
    },
    "has_named_sources" -> Answer.ofQuery()(of => PythonApi.hasNamedSources(of.query).toString),
    "await_companion" -> Answer.ofQuery("companion", "companion_run") { of =>
      done(PythonApi.awaitCompanion(of.query, of.query("companion", "companion_run")))
    },
    "release_late" -> Answer.ofQuery()(of => done(PythonApi.releaseLate(of.query))),
    "await_calls" -> Answer.ofQuery("timeout_ms") { of =>
      PythonApi.awaitCalls(of.query, of.message.long("timeout_ms")).toString
    },
    "catch_up_calls" -> Answer.ofQuery()(of => done(PythonApi.catchUpCalls(of.query)))
  )
}

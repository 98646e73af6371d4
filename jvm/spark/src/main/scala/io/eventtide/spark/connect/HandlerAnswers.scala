package io.eventtide.spark.connect

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.connect.ConnectAnswers.{Answers, done, json}

/** The answers for a query with a handler of late rows. */
private[connect] object HandlerAnswers {

  val All: Answers = Map(
    "follow_late" -> { of =>
      val options = PythonApi.followLate(of.query, of.message.count("window", least = 0))
      Option(options).map(json(_)).orNull
    },
    "has_named_sources" -> (of => PythonApi.hasNamedSources(of.query).toString),
    "await_companion" -> { of =>
      done(PythonApi.awaitCompanion(of.query, of.query("companion", "companion_run")))
    },
    "release_late" -> (of => done(PythonApi.releaseLate(of.query))),
    "await_calls" -> (of =>
      PythonApi.awaitCalls(of.query, of.option("timeout_ms").toLong).toString
    ),
    "catch_up_calls" -> (of => done(PythonApi.catchUpCalls(of.query)))
  )
}

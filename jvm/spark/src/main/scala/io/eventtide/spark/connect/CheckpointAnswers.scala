package io.eventtide.spark.connect

import scala.jdk.CollectionConverters._

import io.eventtide.spark.api.PythonApi
import io.eventtide.spark.connect.ConnectAnswers.{Answers, done, json}
import io.eventtide.spark.connect.ServerPermissions.changingFiles

/** The answers about a checkpoint, and the changes of its files. */
private[connect] object CheckpointAnswers {

  val All: Answers = Map(
    "checkpoint" -> Answer.of("checkpoint") { of =>
      val plan = of.message.input.map(_ => of.rows)
      PythonApi.checkpointJson(of.session, of.checkpoint, plan.orNull)
    },
    "clean_late" -> Answer.of("checkpoint", "dry_run", "late_to") { of =>
      val isDry = of.message.flag("dry_run")
      def cleaned = PythonApi.cleanLate(of.session, of.checkpoint, isDry, of.lateTo)
      json((if (isDry) cleaned else changingFiles(of)(cleaned)).asScala.toSeq)
    },
    "compact_late" -> Answer.of("checkpoint", "late_to") { of =>
      val compacted =
        changingFiles(of)(PythonApi.compactLate(of.session, of.checkpoint, of.lateTo))
      json(compacted.asScala.toSeq)
    },
    "forget_late_reader" -> Answer.of("checkpoint", "reader") { of =>
      val reader = of.option("reader")
      done(changingFiles(of)(PythonApi.forgetLateReader(of.session, of.checkpoint, reader)))
    },
    "why" -> Answer.of("checkpoint", "question") { of =>
      PythonApi.why(of.session, of.checkpoint, of.message.texts("question").asJava)
    },
    "repartition" -> Answer.of("checkpoint", "partitions") { of =>
      val partitions = of.message.count("partitions")
      changingFiles(of)(PythonApi.repartition(of.session, of.checkpoint, partitions)).toString
    }
  )
}

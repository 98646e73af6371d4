package io.eventtide.spark.plan

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.eventtide.{Checkpoints, Plans}

import io.eventtide.spark.EventtideException
import io.eventtide.spark.exec.StateReader
import io.eventtide.spark.query.{CheckpointFiles, WindowBatch}

/** What a window holds in a checkpoint that its query has written. */
private[spark] object WindowState {

  /** A row for each open window, as if it closed after the last committed batch.
    *
    * @param results
    *   the results of the window, as the query has them
    * @param checkpoint
    *   the query's checkpoint location
    */
  def read(results: DataFrame, checkpoint: String): DataFrame = {
    val session = results.sparkSession
    SessionChecks.installed(session)
    SessionChecks.rocksDb(session)
    val conf = session.sessionState.newHadoopConf()
    val root = new Path(checkpoint)
    val files = (folder: String) => new CheckpointFiles(new Path(root, folder), conf)
    val batch = files("commits").lastBatch
    val partitions = files(s"state/${WindowBatch.FirstOperatorId}").names.count(_.forall(_.isDigit))
    if (batch.isEmpty || partitions == 0) {
      throw EventtideException("STATE_MISSING", "root" -> checkpoint)
    }
    val optimized = session.sessionState.optimizer.execute(results.queryExecution.analyzed)
    val window = WindowBatch.windows(optimized) match {
      case Seq(one) => PlannedWindow(one).window
      case several => throw EventtideException("STATE_OF_WINDOWS", "count" -> several.length)
    }
    val ids = Checkpoints.stateIds(session, checkpoint, batch.get, WindowBatch.FirstOperatorId)
    val state = new Path(root, "state").toString
    val reader =
      StateReader(window, state, WindowBatch.FirstOperatorId, partitions, batch.get, ids)
    Plans.dataFrame(
      session,
      reader.rows(session),
      DataTypeUtils.fromAttributes(window.output)
    )
  }
}

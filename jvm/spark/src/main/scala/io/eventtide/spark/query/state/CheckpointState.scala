package io.eventtide.spark.query.state

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.SparkInternals

import io.eventtide.spark.checkpoint.{CheckpointFiles, RunEpoch, StatePartitions}
import io.eventtide.spark.state.{StoredState, WindowStateLayout}

/** The state of the windows of a checkpoint, as of a committed batch.
  *
  * @param partitions
  *   the location of the state, if it has been repartitioned
  */
private[spark] final class CheckpointState(
    session: SparkSession,
    root: Path,
    partitions: Option[StatePartitions]
) {
  private val conf = session.sessionState.newHadoopConf()
  private val folder = partitions.fold(CheckpointState.sparks(root))(_.path(root))

  /** The state of an operator after a batch; None if it has none. */
  def of(operatorId: Long, families: WindowStateLayout, batchId: Long): Option[StoredState] = {
    val stores = new CheckpointFiles(new Path(folder, operatorId.toString), conf)
    val count = stores.names.count(_.forall(_.isDigit))
    val repartitioned = partitions.flatMap(_.idsFor(batchId + 1).get(operatorId))
    def committed =
      try SparkInternals.stateIds(session, root.toString, batchId, operatorId)
      catch {
        case NonFatal(failure) =>
          CheckpointFiles.unreadable(new Path(root, s"commits/$batchId"), failure)
      }
    Option.when(count > 0) {
      val ids = repartitioned.orElse(committed)
      StoredState(families, folder.toString, operatorId, batchId + 1, count, ids)
    }
  }
}

private[spark] object CheckpointState {

  /** The folder of Spark's state. */
  def sparks(root: Path): Path = new Path(root, "state")

  def of(session: SparkSession, root: Path): CheckpointState = {
    val conf = session.sessionState.newHadoopConf()
    new CheckpointState(session, root, RunEpoch.statePartitions(root, conf))
  }
}

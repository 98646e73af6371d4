package io.eventtide.spark.query.state

import java.io.FileNotFoundException
import java.nio.file.NoSuchFileException
import java.util.UUID

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.{SparkShims, StreamExecutionAccess}
import org.apache.spark.sql.execution.streaming.state.{
  StateSchemaCompatibilityChecker,
  StateStoreColFamilySchema,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{
  CheckpointFiles,
  CheckpointLinks,
  CheckpointPath,
  OffsetFiles,
  PlanFile,
  RunEpoch,
  StatePartitions
}
import io.eventtide.spark.operators.WindowBatchContext
import io.eventtide.spark.options.SettingText
import io.eventtide.spark.state.WindowStateLayout

/** Changes the number of partitions of the state of a query's windows, while no run uses it.
  *
  * The state of the last committed batch is written again, to a new folder, with the same version.
  * The new state becomes valid with one file, the file of the next `RunEpoch`.
  *
  *   - '''Guarantee:''' the query continues with unchanged results. After a failure or a kill
  *     before that file, the checkpoint is unchanged. After that file, only the old state remains
  *     to be removed.
  *   - '''Runs:''' a run in the same application is refused. A run of another driver ends before
  *     its next batch. A run that begins meanwhile ends the repartitioning.
  *   - '''Edges:''' a window without keys keeps its one partition. The state of Spark's operators
  *     does not change.
  */
private[spark] final class StateRepartition(session: SparkSession, checkpoint: Path, count: Int)
    extends Logging {
  private val conf = session.sessionState.newHadoopConf()
  private val root = CheckpointPath.root(checkpoint, conf)
  private val offsets = new OffsetFiles(root, conf)
  private val commits = new CheckpointFiles(new Path(root, "commits"), conf)
  private lazy val windows = new PlanFile(root, commits.lastBatch.getOrElse(-1L), conf).plan.windows
  private lazy val operators = windows.indices.map(WindowBatchContext.FirstOperatorId + _)

  /** Returns the number of partitions before. */
  def run(): Int = {
    SettingText.rows("partitions", count): Unit
    refuseRunning()
    val committed = lastCommitted()
    val layouts = layoutsOfWindows()
    val settings = settingsOf(committed)
    val before = RunEpoch
      .statePartitions(root, conf)
      .fold(settings.getConf(SQLConf.SHUFFLE_PARTITIONS))(_.count)
    refuse(layouts.values.toSeq, settings, before)
    refuseLinks()
    val epoch = new RunEpoch(root, UUID.randomUUID(), conf)
    epoch.begin()
    // A run of another driver that has already begun a batch may still end it.
    if (Seq(offsets.lastBatch, commits.lastBatch).exists(!_.contains(committed))) refuseOvertaken()
    removeOthers(epoch.statePartitions)
    val written = copyWindows(layouts, epoch, committed, settings)
    if (!epoch.replace(written)) refuseOvertaken()
    removeOthers(Some(written))
    before
  }

  private def copyWindows(
      layouts: Map[Long, WindowStateLayout],
      epoch: RunEpoch,
      batchId: Long,
      settings: SQLConf
  ): StatePartitions = {
    val next = StatePartitions(epoch.number, count, firstBatch = batchId + 1, ids = Map.empty)
    val stored = new CheckpointState(session, root, epoch.statePartitions)
    val ids = layouts.flatMap { case (operator, layout) =>
      val state = stored.of(operator, layout, batchId).getOrElse(refuseStateless())
      val partitions = if (layout.together.isEmpty) 1 else count
      val written = state.copyTo(next.path(root).toString, partitions, session, settings)
      written.ids.map(of => operator -> of.map(_.head).toSeq)
    }
    next.copy(ids = ids)
  }

  /** The last batch; fails if there is none, or if it is not committed. */
  private def lastCommitted(): Long = {
    val committed = commits.lastBatch // read first, so that it is not higher
    val begun = offsets.lastBatch
      .getOrElse(throw EventtideException("CHECKPOINT_EMPTY", "root" -> root))
    if (!committed.contains(begun))
      throw EventtideException("REPARTITION_UNFINISHED_BATCH", "root" -> root, "batch" -> begun)
    begun
  }

  /** The layouts of the windows' state, by operator. */
  private def layoutsOfWindows(): Map[Long, WindowStateLayout] = {
    if (windows.isEmpty) refuseStateless()
    operators.map(operator => operator -> layoutOf(operator)).toMap
  }

  private def layoutOf(operatorId: Long): WindowStateLayout =
    try WindowStateLayout.read(schemaOf(operatorId))
    catch {
      case known: EventtideException => throw known
      case NonFatal(failure) =>
        val schema = new Path(CheckpointState.sparks(root), s"$operatorId/0/_metadata/schema")
        CheckpointFiles.unreadable(schema, failure)
    }

  private def schemaOf(operatorId: Long): StateStoreColFamilySchema = {
    val id = StateStoreId(CheckpointState.sparks(root).toString, operatorId, partitionId = 0)
    val provider = StateStoreProviderId(id, UUID.randomUUID())
    try new StateSchemaCompatibilityChecker(provider, conf).readSchemaFile().head
    catch { case _: FileNotFoundException | _: NoSuchFileException => refuseStateless() }
  }

  // The settings of the query that its state depends on.
  private def settingsOf(batchId: Long): SQLConf = {
    val settings = session.sessionState.conf.clone()
    offsets.settings(batchId).getOrElse(Map.empty).foreach { case (key, value) =>
      settings.setConfString(key, value)
    }
    settings
  }

  private def refuse(layouts: Seq[WindowStateLayout], settings: SQLConf, before: Int): Unit = {
    if (!SparkShims.hasEmptyStores)
      refuse("Spark 4.1 cannot write a new store at a version; Spark 4.2 can")
    if (!settings.getConf(SQLConf.STATEFUL_OPERATOR_USE_STRICT_DISTRIBUTION))
      refuse(s"the query has ${SQLConf.STATEFUL_OPERATOR_USE_STRICT_DISTRIBUTION.key}=false")
    if (layouts.forall(_.together.isEmpty)) refuse("no window has keys: one partition has all rows")
    if (before == count)
      throw EventtideException("REPARTITION_SAME", "root" -> root, "count" -> count)
  }

  private def refuseRunning(): Unit =
    if (StreamExecutionAccess.isRunning(session, root))
      throw EventtideException("REPARTITION_RUNNING", "root" -> root)

  private def refuseLinks(): Unit = {
    val stores = operators.flatMap(of => Seq(s"state/$of", s"state/$of/0"))
    CheckpointLinks.refuse(root, conf, "state" +: stores)
  }

  private def refuse(reason: String): Nothing =
    throw EventtideException("REPARTITION_UNSUPPORTED", "root" -> root, "reason" -> reason)

  private def refuseStateless(): Nothing =
    throw EventtideException("STATE_MISSING", "root" -> root)

  private def refuseOvertaken(): Nothing =
    throw EventtideException("REPARTITION_OVERTAKEN", "root" -> root)

  /** Removes all other state of the windows. State that cannot be removed is left to the next call.
    */
  private def removeOthers(valid: Option[StatePartitions]): Unit = {
    val repartitioned = new CheckpointFiles(new Path(root, StatePartitions.Folder), conf)
    remove(repartitioned, name => !valid.exists(_.folder.toString == name))
    if (valid.isDefined) operators.foreach(removeStores)
  }

  /** Removes Spark's stores of an operator, but not the schema, which is in the first store. */
  private def removeStores(operatorId: Long): Unit = {
    val stores = new Path(CheckpointState.sparks(root), operatorId.toString)
    remove(new CheckpointFiles(stores, conf), _.toIntOption.exists(_ > 0))
    remove(new CheckpointFiles(new Path(stores, "0"), conf), _ != "_metadata")
  }

  private def remove(files: CheckpointFiles, isOld: String => Boolean): Unit =
    try files.names.filter(isOld).foreach(files.delete)
    catch { case NonFatal(failure) => logWarning(s"old state in $root is left", failure) }
}

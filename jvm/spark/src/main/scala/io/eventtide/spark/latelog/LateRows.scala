package io.eventtide.spark.latelog

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.StreamExecutionAccess

import io.eventtide.kernel.disorder.{BatchDisorder, DisorderHistogram}
import io.eventtide.spark.checkpoint.CheckpointFiles
import io.eventtide.spark.options.LateMode
import io.eventtide.spark.spi.{HasLateOutput, LateTotals}

/** The late rows of one run of a query: the logs of its windows, and the index of the files that
  * count.
  */
private[spark] final class LateRows private (
    session: SparkSession,
    windows: IndexedSeq[LateSink],
    newIndex: => LateIndex,
    retention: Option[LateRetention],
    retain: Int
) extends Logging {
  private lazy val index = newIndex // not created for a query without windows
  private val positions = windows.map(_.node).zipWithIndex.toMap
  private var batchEntries = Seq.empty[WindowLateEntry]
  @volatile private var counted = LateCounts.None
  private var last = BatchLateness.None
  private var hasWarned = false

  /** The lateness of the last finished batch. */
  def lateness: BatchLateness = last

  /** Whether the last finished batch has late rows. */
  def inLastBatch: Boolean = batchEntries.exists(_.rows.nonEmpty)

  /** The number of on-time rows since the checkpoint began; the ledger stores it. */
  def onTime: Long = counted.onTime

  def has(node: UUID): Boolean = positions.contains(node)

  /** The totals of the index after the last batch. */
  def totals: LateTotals = if (windows.isEmpty) LateTotals.None else index.totals

  /** Restores the state from the batches before `below`, which had `onTime` on-time rows. */
  def restore(below: Long, onTime: Long): Unit = {
    if (windows.nonEmpty) {
      index.restore(below)
      counted = LateCounts(index.totals.rows, onTime)
    }
  }

  /** The log for the tasks of a node in one batch. */
  def open(node: UUID, batchId: Long, watermarkMicros: Option[Long]): LateLog = {
    val output = windows(positions(node))
    val reports = new LateAccum
    session.sparkContext.register(reports)
    new LateLog(batchId, watermarkMicros, output.mode, output.files(session), reports)
  }

  /** Collects the task reports of a batch; does not access any file. */
  def take(logs: Map[UUID, LateLog]): Unit = if (windows.nonEmpty) {
    val late = logs.toSeq.map { case (node, log) =>
      LateIndexEntry.windowEntry(positions(node), log.reports.value.values.toSeq)
    }
    batchEntries = late.sortBy(_.window)
    val inBatch = LateIndexEntry.sum(late.map(_.rows))
    val reports = logs.valuesIterator.flatMap(_.reports.value.values).toSeq
    val lateBy = DisorderHistogram.sum(reports.map(_.lateBy))
    last = BatchLateness(reports.map(_.onTime).sum, LateReason.countTooLate(inBatch), lateBy)
    val total = LateIndexEntry.sum(Seq(index.totals.rows, inBatch))
    counted = LateCounts(total, counted.onTime + last.onTime)
  }

  /** The rows of a batch by the lag that the query's window needs for them, and those that were late.
    * None if the query has several windows, or its window does not count them.
    */
  def disorder(logs: Iterable[LateLog]): Option[BatchDisorder] = {
    val reports = logs.flatMap(_.reports.value.values).toSeq
    Option.when(windows.length == 1 && reports.exists(_.disorder.isDefined)) {
      val late = reports.map(report => LateReason.countTooLate(report.rowsByName)).sum
      BatchDisorder.of(reports.flatMap(_.disorder), reports.map(_.onTime).sum + late, late)
    }
  }

  /** Writes the collected entries, before Spark commits the batch. */
  def write(batchId: Long, atMicros: Long): Unit = if (windows.nonEmpty) {
    if (inLastBatch) checkFolders()
    index.write(batchId, atMicros, batchEntries)
  }

  /** Forgets late rows that exceed the retention at the batch's timestamp, if there is a retention.
    */
  def forget(batchId: Long, atMicros: Long): Unit =
    for {
      keeping <- retention if index.last.isDefined
      forgotten <- keeping.step(atMicros, batchId - retain)
    } index.forget(forgotten)

  // One file per window is enough: a deleted folder is created again by the next file in it.
  private def checkFolders(): Unit = if (!hasWarned) {
    val gone = for {
      entry <- index.last.toSeq
      (output, window) <- windows.zipWithIndex
      damaged <- output.damaged(entry.filesOf(window).take(1))
    } yield s"${damaged.path}: ${damaged.reason}"
    gone.headOption.foreach { first =>
      hasWarned = true
      logWarning(
        s"A late file differs from the one that this query wrote, $first. The query continues, but " +
          "its late log can be read only with option 'missing' set to 'skip'. Remove late files only " +
          "with eventtide clean-late."
      )
    }
  }

  /** The counts of the batches that have ended, and of the reports of a batch that still runs. */
  def countsWith(running: Iterable[LateLog]): LateCounts = {
    val reports = running.flatMap(_.reports.soFar.values).toSeq
    if (reports.isEmpty) counted
    else {
      val late = LateIndexEntry.sum(counted.late +: reports.map(_.rowsByName))
      LateCounts(late, counted.onTime + reports.map(_.onTime).sum)
    }
  }
}

/** The output for the late rows of one node; without a folder they are only counted. */
private final class LateSink(val node: UUID, val mode: LateMode, folder: Option[LateLocation]) {

  /** The files that are missing or have a different length. */
  def damaged(files: Seq[LateFileInfo]): Seq[DamagedLateFile] =
    folder.toSeq.flatMap(_.check.damaged(files))

  private var openFiles = Option.empty[LateFiles]

  def files(session: SparkSession): Option[LateFiles] = {
    if (openFiles.isEmpty) openFiles = folder.map(f => LateFiles(session, f.path, f.log.schema))
    openFiles
  }
}

private final case class LateLocation(path: Path, log: LateLogSpec, check: LateFilesCheck)

private[spark] object LateRows extends Logging {

  /** Opens the logs of a query that is starting, before its first offset is written.
    *
    * @param retain
    *   the number of batches that Spark can be set back
    */
  def open(query: StreamExecutionAccess, root: Path, retain: Int, conf: Configuration): LateRows = {
    val nodes = nodesOf(query.analyzedPlan)
    val logs = nodes.map(logOf(_, query.id, conf))
    val byWindow = logs.zipWithIndex.collect { case (Some(log), window) => window -> log }.toMap
    val outside = byWindow.values.filter(_.to.isDefined).map(_.folder(root)).toSeq.distinct
    val owners = outside.map(new LateOwner(root, _, conf))
    if (nodes.nonEmpty) begin(root, conf, byWindow)
    owners.foreach(_.claim())
    val outputs = nodes.zip(logs).map { case (node, log) =>
      val folder = log.map { found =>
        val path = found.folder(root)
        LateLocation(path, found, new LateFilesCheck(path, conf))
      }
      new LateSink(node.lateNode, node.lateSettings.mode, folder)
    }
    val index = new LateIndex(root, retain, conf)
    val retention = if (byWindow.isEmpty) None else retentionOf(nodes, byWindow, root, conf)
    val allowed = retention.filterNot(_ => belongsToOther(root, owners))
    new LateRows(query.session, outputs, index, allowed, retain)
  }

  // Several windows share one index, so the longest of their retentions applies: also of a window
  // that no longer logs its late rows, but has earlier ones. Only what this run names is deleted
  // outside of the checkpoint.
  private def retentionOf(
      nodes: Seq[HasLateOutput],
      logs: Map[Int, LateLogSpec],
      root: Path,
      conf: Configuration
  ): Option[LateRetention] = {
    val known = new LateLogSpecs(root, conf).read()
    val kept = known.values.map(_.keepMicros)
    Option.when(kept.forall(_.isDefined)) {
      val deletable = known.filter(_._2.to.isEmpty) ++ logs
      val folders = deletable.map { case (window, log) => window -> log.folder(root) }
      val hasHandler = nodes.exists(_.lateSettings.hasHandler)
      new LateRetention(root, conf, kept.flatten.max, hasHandler, folders)
    }
  }

  private def belongsToOther(root: Path, owners: Seq[LateOwner]): Boolean = {
    val owner = owners.flatMap(_.other).headOption
    owner.foreach { other =>
      logWarning(
        s"Late rows older than late_retention are not removed: the folder of late_to belongs to the " +
          s"checkpoint $other, and this query continues another one, $root, such as a copy. If the " +
          "checkpoint was moved, delete the file _owner in the folder before the next start."
      )
    }
    owner.isDefined
  }

  /** Fails if the late rows of a plan cannot continue in the logs of a checkpoint; read-only.
    *
    * @param query
    *   the id of the checkpoint's query
    */
  def refuseOther(
      plan: LogicalPlan,
      query: => UUID,
      root: Path,
      conf: Configuration
  ): Unit = {
    val known = new LateLogSpecs(root, conf).read()
    for {
      (node, window) <- nodesOf(plan).zipWithIndex
      next <- logOf(node, query, conf)
    } known.get(window) match {
      case Some(before) => before.merge(root, window, next)
      case None => refuseUndescribed(root, window, conf)
    }
  }

  // A log that earlier runs did not have begins now. A missing log of earlier runs cannot be
  // reconstructed.
  private def refuseUndescribed(root: Path, window: Int, conf: Configuration): Unit = {
    val index = new LateIndexReader(root, conf)
    index.lastCommitted.foreach { until =>
      LateFolders.refuseUndescribed(root, window, index.entries(-1, until))
    }
  }

  private def nodesOf(plan: LogicalPlan): IndexedSeq[HasLateOutput] =
    plan.collect { case node: HasLateOutput => node }.distinctBy(_.lateNode).toIndexedSeq

  private def logOf(
      node: HasLateOutput,
      query: => UUID,
      conf: Configuration
  ): Option[LateLogSpec] =
    Option.when(node.lateSettings.mode == LateMode.Log) {
      val to = node.lateSettings.to.map(folder => new Path(folder, query.toString))
      val absolute = to.map(path => path.getFileSystem(conf).makeQualified(path).toString)
      LateLogSpec(absolute, LateSchema.of(node.lateRow), node.lateSettings.keepMicros)
    }

  private def begin(root: Path, conf: Configuration, logs: Map[Int, LateLogSpec]): Unit = {
    val isNew = new CheckpointFiles(new Path(root, "offsets"), conf).lastBatch.isEmpty
    val windows = new LateLogSpecs(root, conf)
    if (isNew) windows.begin(logs) else windows.resume(logs)
  }
}

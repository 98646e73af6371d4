package io.eventtide.spark.late

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.eventtide.RunningQuery

import io.eventtide.spark.query.CheckpointFiles

/** What became of the rows of windows: the late ones by reason, in the last batch and since the
  * checkpoint began, and those on time since then.
  */
private[spark] final case class LateCounts(
    batch: Map[String, Long],
    total: Map[String, Long],
    onTime: Long
)

/** What windows took and what was too late for them, in one batch. */
private[spark] final case class BatchLateness(onTime: Long, late: Long, by: Lateness)

private[spark] object BatchLateness {
  val None: BatchLateness = BatchLateness(0, 0, Lateness.None)
}

private[spark] object LateCounts {
  val None: LateCounts = LateCounts(Map.empty, Map.empty, 0)
}

/** The late rows of one run of a query: the logs of its windows, and the index of what counts. */
private[spark] final class LateRows private (
    session: SparkSession,
    windows: IndexedSeq[LateOutput],
    newIndex: => LateIndex
) {
  private lazy val index = newIndex // a query without windows has none
  private val positions = windows.map(_.node).zipWithIndex.toMap
  private var inBatch = Map.empty[String, Long]
  private var rowsOnTime = 0L
  private var last = BatchLateness.None

  /** Of the batch that was finished last. */
  def lateness: BatchLateness = last

  /** Rows that were not late since the checkpoint began; the ledger keeps it. */
  def onTime: Long = rowsOnTime

  def has(node: UUID): Boolean = positions.contains(node)

  /** Goes on from the batches before `below`, in which so many rows were on time. */
  def restore(below: Long, onTime: Long): Unit = {
    rowsOnTime = onTime
    if (windows.nonEmpty) index.restore(below)
  }

  /** The log of a node's tasks in one batch. */
  def open(node: UUID, batchId: Long, watermarkMicros: Option[Long]): LateLog = {
    val output = windows(positions(node))
    val reports = new LateAccum
    session.sparkContext.register(reports)
    new LateLog(batchId, watermarkMicros, output.mode, output.files(session), reports)
  }

  /** Writes what the logs of a batch have been told, before Spark commits the batch. */
  def finish(batchId: Long, logs: Map[UUID, LateLog]): Unit = if (windows.nonEmpty) {
    val late = logs.toSeq.map { case (node, log) =>
      LateEntry.ofWindow(positions(node), log.reports.value)
    }
    inBatch = LateEntry.sum(late.map(_.rows))
    val reports = logs.valuesIterator.flatMap(_.reports.value).toSeq
    val lateBy = reports.foldLeft(Lateness.None)(_ ++ _.lateBy)
    last = BatchLateness(reports.map(_.onTime).sum, LateReason.countTooLate(inBatch), lateBy)
    rowsOnTime += last.onTime
    index.write(batchId, late.sortBy(_.window))
  }

  def counts: LateCounts =
    if (windows.isEmpty) LateCounts.None else LateCounts(inBatch, index.total, rowsOnTime)
}

/** Where the late rows of one node go; without a folder they are counted only. */
private final class LateOutput(val node: UUID, val mode: LateMode, folder: Option[LateFolder]) {
  private var made = Option.empty[LateFiles]

  def files(session: SparkSession): Option[LateFiles] = {
    if (made.isEmpty) made = folder.map(f => LateFiles(session, f.path, f.log.schema))
    made
  }
}

private final case class LateFolder(path: Path, log: LateWindow)

private[spark] object LateRows {

  /** Opens the logs of a query that is starting, before its first offset; or refuses it.
    *
    * @param retain
    *   so many batches Spark can be set back
    */
  def open(query: RunningQuery, root: Path, retain: Int, conf: Configuration): LateRows = {
    val nodes = nodesOf(query.analyzedPlan)
    val logs = nodes.map(logOf(_, query.id, conf))
    if (nodes.nonEmpty) begin(root, conf, logs)
    val outputs = nodes.zip(logs).map { case (node, log) =>
      val folder = log.map(found => LateFolder(found.folder(root), found))
      new LateOutput(node.lateNode, node.lateSettings.mode, folder)
    }
    new LateRows(query.session, outputs, new LateIndex(root, retain, conf))
  }

  /** Refuses a plan whose late rows cannot go on in the logs of a checkpoint; reads only.
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
    val known = new LateWindows(root, conf).read()
    for {
      (node, window) <- nodesOf(plan).zipWithIndex
      before <- known.get(window)
      next <- logOf(node, query, conf)
    } before.merge(root, window, next)
  }

  private def nodesOf(plan: LogicalPlan): IndexedSeq[FindsLateRows] =
    plan.collect { case node: FindsLateRows => node }.distinctBy(_.lateNode).toIndexedSeq

  private def logOf(
      node: FindsLateRows,
      query: => UUID,
      conf: Configuration
  ): Option[LateWindow] =
    Option.when(node.lateSettings.mode == LateMode.Log) {
      val to = node.lateSettings.to.map(folder => new Path(folder, query.toString))
      val absolute = to.map(path => path.getFileSystem(conf).makeQualified(path).toString)
      LateWindow(absolute, LateSchema.of(node.lateRow))
    }

  private def begin(root: Path, conf: Configuration, logs: Seq[Option[LateWindow]]): Unit = {
    val byWindow = logs.zipWithIndex.collect { case (Some(log), window) => window -> log }.toMap
    val isNew = new CheckpointFiles(new Path(root, "offsets"), conf).names.isEmpty
    val windows = new LateWindows(root, conf)
    if (isNew) windows.begin(byWindow) else windows.resume(byWindow)
  }
}

package io.eventtide.spark.query.doctor

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.{
  BatchLedger,
  CheckpointFiles,
  CheckpointPath,
  CheckpointStructure,
  EndOfInput,
  LedgerEntry,
  OffsetFiles,
  PlanFile,
  RunEpoch,
  SavedClock,
  SavedTimer
}
import io.eventtide.spark.latelog.{
  LateIndexReader,
  LateLogSpecs,
  LateOrphans,
  LateReaders,
  LateReason,
  LateRows
}
import io.eventtide.spark.options.{
  MutableOptionsCodec,
  StoredFrames,
  WatermarkSettings,
  WindowSettings
}
import io.eventtide.spark.query.history.{ClosedWindowReader, LedgerReport}
import io.eventtide.spark.query.monitor.{NextClosing, Outlook, WatermarkReport}
import io.eventtide.spark.spi.{NextTimer, PlanNodes}

/** A report on the contents of a checkpoint, for users. It only reads the checkpoint, which the
  * query may be using meanwhile. Unreadable files are listed as problems.
  *
  * @param plan
  *   the plan of a query to continue from the checkpoint, if there is one
  */
private[spark] final class CheckpointReport(
    checkpoint: Path,
    conf: Configuration,
    plan: Option[LogicalPlan]
) {
  private val root = CheckpointPath.root(checkpoint, conf)
  private val offsets = new OffsetFiles(root, conf)
  private val index = new LateIndexReader(root, conf)

  private val committed = index.lastCommitted
  private val planFile = new PlanFile(root, committed.getOrElse(-1L), conf)
  private val begun = offsets.lastBatch // read after `committed`, so that it is not lower
  if (begun.isEmpty) throw EventtideException("CHECKPOINT_EMPTY", "root" -> root)

  private lazy val stored = planFile.plan
  private lazy val refusal = plan.flatMap(wanted => Try(refuseOther(wanted)).failed.toOption)
  private lazy val begunSparkSettings = begun.flatMap(offsets.settings)
  private lazy val repartitioned = Try(RunEpoch.statePartitions(root, conf))
  private lazy val ledger = Try(readLedger)
  private lazy val settings = Try(ledger.toOption.map(read => settingsOf(read.entries)))
  private lazy val isDrained = ledger.toOption.exists(_.entries.last.isDrained)
  private lazy val watermark = Try {
    for (read <- ledger.toOption; known <- settings.get) yield reportOn(read, known)
  }
  private lazy val closed = Try(ledger.toOption.map { read =>
    decode(read.entries)(ClosedWindowReader.closedUpTo(read.entries))
  })
  private lazy val logs = Try(new LateLogSpecs(root, conf).read())
  private lazy val late = Try(index.entries(-1, committed.getOrElse(-1L)))
  private lazy val readers = Try(new LateReaders(root, conf).named)
  private lazy val orphans = Try(new LateOrphans(root, conf).find())
  private lazy val state = Try(ledger.foreach(read => checkState(read.entries.last)))

  // Errors for which any query is refused, regardless of its plan.
  private lazy val unreadable = Seq(state, ledger, logs).flatMap(_.failed.toOption)

  /** The watermarks after the last committed batch; None before the first one.
    *
    * @throws EventtideException
    *   if the ledger cannot be read
    */
  def lastWatermark: Option[WatermarkReport] = {
    ledger.get: Unit
    watermark.get.map(_.copy(isHolding = false)) // as in `blame`
  }

  def json: String = {
    val node = CheckpointReport.mapper.createObjectNode()
    node.put("root", root.toString).put("committed", committed.getOrElse(-1L))
    committed.flatMap(offsets.watermarkOf).foreach(node.put("closedBy", _))
    node.put("begun", begun.getOrElse(-1L)).put("fingerprint", fingerprint)
    val structure = node.putArray("plan")
    stored.lines.foreach(structure.add)
    watermark.toOption.flatten.foreach { report =>
      val tree = CheckpointReport.mapper.readTree(report.json)
      // it is not known whether the run that wrote the entry still pauses the watermark
      node.put("blame", report.copy(isHolding = false).blame).set[ObjectNode]("watermark", tree)
    }
    writeWindows(node)
    writeKept(node)
    writeReaders(node)
    writeSizes(node)
    partitions.foreach(node.put("partitions", _))
    val spark = node.putObject("settings")
    begunSparkSettings.foreach(_.toSeq.sorted.foreach { case (key, value) =>
      spark.put(key, value)
    })
    val problems = node.putArray("problems")
    val failures =
      unreadable ++
        Seq(watermark, closed, late, readers, orphans, repartitioned).flatMap(_.failed.toOption)
    failures.map(_.getMessage).distinct.foreach(problems.add)
    val advice = node.putArray("advice")
    val inputs = settings.toOption.flatten.getOrElse(Nil)
    CheckpointLint(inputs, stateSettings.getOrElse(Map.empty), partitions.getOrElse(0), counts)
      .foreach(advice.add)
    watermark.toOption.flatten.foreach(_.inputs.flatMap(_.limit.warning).foreach(advice.add))
    if (isDrained) advice.add(CheckpointLint.Drained)
    val reason = plan.flatMap { _ =>
      refusal
        .orElse(unreadable.headOption)
        .orElse(Option.when(isDrained)(EndOfInput.refusal(root)))
    }
    plan.foreach(_ => node.put("continues", reason.isEmpty))
    val changes = node.putArray("changes")
    plan
      .filter(_ => reason.isEmpty)
      .foreach(wanted => planFile.changes(CheckpointStructure.of(wanted)).foreach(changes.add))
    reason.foreach(error => node.put("refusal", error.getMessage))
    node.toString
  }

  private def stateSettings: Option[Map[String, String]] = {
    val hasState = new CheckpointFiles(new Path(root, "state"), conf).names.nonEmpty
    begunSparkSettings.filter(_ => hasState)
  }

  private def partitions: Option[Int] = repartitioned.toOption.flatten
    .map(_.count)
    .orElse(
      begunSparkSettings.flatMap(_.get(SQLConf.SHUFFLE_PARTITIONS.key)).flatMap(_.toIntOption)
    )

  private def fingerprint: String = {
    val digest = MessageDigest.getInstance("SHA-256").digest(stored.json.getBytes(UTF_8))
    digest.take(6).map(byte => f"$byte%02x").mkString
  }

  private def counts = CheckpointCounts(
    onTime = ledger.toOption.map(_.entries.last.rowsOnTime),
    late = LateReason.countTooLate(rowsLate),
    orphans = orphans.getOrElse(Nil).length,
    clock = ledger.toOption.fold(SavedClock.None)(_.entries.last.clock)
  )

  private def rowsLate: Map[String, Long] =
    late.getOrElse(Nil).lastOption.fold(Map.empty[String, Long])(_.total)

  private def writeWindows(node: ObjectNode): Unit = {
    val array = node.putArray("windows")
    val due = ledger.toOption.fold(Seq.empty[SavedTimer])(_.entries.last.due)
    stored.windows.zipWithIndex.foreach { case (structure, window) =>
      val of = array.addObject().put("structure", structure.text)
      val keys = due.lift(window).map(_.next.keys).filter(_ != NextTimer.Unknown)
      keys.foreach(of.put("openKeys", _))
      closed.toOption.flatten.flatMap(_.lift(window)).flatten.foreach(of.put("closedUpTo", _))
      logs.toOption
        .flatMap(_.get(window))
        .foreach(log => of.put("lateLog", log.folder(root).toString))
      val rows = of.putObject("late")
      val entries = late.getOrElse(Nil).flatMap(_.windows).filter(_.window == window)
      entries.flatMap(_.rows).groupMapReduce(_._1)(_._2)(_ + _).toSeq.sorted.foreach {
        case (reason, n) => rows.put(reason, n)
      }
    }
  }

  // The oldest batch whose late rows are retained, its time, and the retention.
  private def writeKept(node: ObjectNode): Unit = {
    node.putNull("lateKept")
    late.getOrElse(Nil).find(_.batchId > index.forgotten).foreach { oldest =>
      val kept = node.putObject("lateKept")
      kept.put("from", oldest.batchId).put("clock", oldest.atMicros)
      val keep = logs.getOrElse(Map.empty).values.map(_.keepMicros).toSeq
      if (keep.nonEmpty && keep.forall(_.isDefined)) kept.put("forMicros", keep.flatten.max)
    }
  }

  private def writeReaders(node: ObjectNode): Unit = {
    val array = node.putArray("lateReaders")
    readers.getOrElse(Nil).foreach { case (reader, name) =>
      array.addObject().put("id", reader.id).put("name", name).put("batchId", reader.batchId)
    }
  }

  private def writeSizes(node: ObjectNode): Unit = {
    val found = orphans.getOrElse(Nil)
    node.put("orphans", found.length).put("orphanBytes", found.map(_.bytes).sum)
    ledger.foreach { read =>
      node.put("ledgerEntries", read.length).put("ledgerBytes", read.bytes)
    }
  }

  private def refuseOther(plan: LogicalPlan): Unit = {
    val unfinished = begun.filterNot(committed.contains)
    planFile.refuseOther(CheckpointStructure.of(plan), unfinished)
    LateRows.refuseOther(plan, CheckpointFiles.queryId(root, conf), root, conf)
  }

  private def checkState(last: LedgerEntry): Unit =
    if (stored.windows.nonEmpty) last.checkState()

  private def readLedger: ReadLedger = BatchLedger.reading(root, conf) { files =>
    ReadLedger(files.read(committed.getOrElse(-1L) + 1), files.length, files.bytes)
  }

  // The settings of the given plan take precedence over the settings of the last run.
  private def settingsOf(entries: Seq[LedgerEntry]): Seq[WatermarkSettings] = {
    val fitting = plan.filter(_ => refusal.isEmpty)
    val planSettings = fitting.map(PlanNodes.watermarks(_).map(_.settings))
    planSettings.getOrElse(decode(entries)(LedgerReport.settingsOf(entries)))
  }

  private def reportOn(read: ReadLedger, settings: Seq[WatermarkSettings]): WatermarkReport = {
    val at = committed.flatMap(offsets.timeOf).getOrElse(0L)
    decode(read.entries) {
      LedgerReport.of(read.entries, settings, at, outlookOf(read.entries.last.due))
    }
  }

  private def decode[A](entries: Seq[LedgerEntry])(content: => A): A =
    BatchLedger.decode(root, entries)(content)

  // The ledger has the next timers, but only the plan has the settings of their windows.
  private def outlookOf(due: Seq[SavedTimer]): Outlook = {
    val windows = plan.filter(_ => refusal.isEmpty).fold(Seq.empty[WindowSettings]) { fitting =>
      val next = stored.continuedBy(CheckpointStructure.of(fitting), closed = _ => None)
      PlanNodes.windows(fitting).zip(next.windows).map { case (window, state) =>
        StoredFrames.settings(window.settings, state)
      }
    }
    val next = windows.zip(due).map { case (window, saved) =>
      NextClosing(window, saved.next, byClock = _ => None)
    }
    val scopes = due.map(saved => MutableOptionsCodec.scope(saved.nextBatchOptions))
    Outlook(nowMicros = None, nextMove = None, next, scopes)
  }
}

private[spark] object CheckpointReport {
  private val mapper = new ObjectMapper()
}

private final case class ReadLedger(entries: Seq[LedgerEntry], length: Int, bytes: Long)

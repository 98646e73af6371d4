package io.eventtide.spark.sql

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{BooleanType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import io.eventtide.spark.EventtideException
import io.eventtide.spark.checkpoint.CheckpointPath
import io.eventtide.spark.query.doctor.CheckpointReport
import io.eventtide.spark.query.monitor.WatermarkReport
import io.eventtide.spark.query.run.QueryWatermarks

/** `eventtide_progress('counts')`: the watermarks of a query of this session, after its last batch. */
private[sql] object ProgressFunction extends QueryFunction {
  override def name: String = "eventtide_progress"
  override def usage: String =
    s"$name(query) - The watermarks of a query of this session: one row for each substream."
  override protected def report(query: String): Report = Progress(query)

  private case class Progress(query: String) extends Report {
    override def schema: StructType = ProgressReport.Schema
    override def rows(session: SparkSession): Seq[InternalRow] =
      ProgressReport.rows(QueryFunction.report(session, query).json)
  }
}

/** `eventtide_blame('counts')`: why the watermark of a query of this session is delayed. */
private[sql] object BlameFunction extends QueryFunction {
  override def name: String = "eventtide_blame"
  override def usage: String =
    s"$name(query) - The cause of the watermark's delay, for a query of this session."
  override protected def report(query: String): Report = Blame(query)

  private case class Blame(query: String) extends Report {
    override def schema: StructType =
      new StructType().add("blame", StringType, false).add("is_active", BooleanType, false)

    // After the end of a query, its last batch counts.
    override def rows(session: SparkSession): Seq[InternalRow] = {
      val said = UTF8String.fromString(QueryFunction.report(session, query).blame)
      val id = QueryWatermarks.find(session, query)
      Seq(InternalRow(said, session.streams.active.map(_.id).exists(id.contains)))
    }
  }
}

/** A function of a query, by its name or id. */
private[sql] trait QueryFunction extends TableFunction {
  override def positional: Seq[String] = Seq("query")
  override def arguments: Seq[String] = positional

  protected def report(query: String): Report

  override def plan(call: FunctionCall): LogicalPlan = {
    val query = call.required("query", "the name or the id of a streaming query of this session")
    ReportRelation(report(new ArgumentReader(call.session).text(query)))
  }
}

private[sql] object QueryFunction {

  def report(session: SparkSession, query: String): WatermarkReport =
    QueryWatermarks
      .find(session, query)
      .flatMap(QueryWatermarks.report(session, _))
      .getOrElse {
        val names = session.streams.active.map(of => Option(of.name).getOrElse(of.id.toString))
        val known = if (names.isEmpty) "none" else names.sorted.mkString(", ")
        throw EventtideException("QUERY_UNKNOWN", "query" -> query, "known" -> known)
      }
}

/** `eventtide_checkpoint('/data/checkpoint')`: as `eventtide_progress`, of a checkpoint. */
private[sql] object CheckpointFunction extends TableFunction {
  override def name: String = "eventtide_checkpoint"
  override def usage: String =
    s"$name(checkpoint) - The watermarks in a checkpoint: one row for each substream."
  override def positional: Seq[String] = Seq("checkpoint")
  override def arguments: Seq[String] = positional

  override def plan(call: FunctionCall): LogicalPlan = {
    val path = call.required("checkpoint", "the checkpoint location of a query")
    ReportRelation(Checkpoint(new ArgumentReader(call.session).text(path)))
  }

  private case class Checkpoint(path: String) extends Report {
    override def schema: StructType = ProgressReport.Schema
    override def rows(session: SparkSession): Seq[InternalRow] = {
      val conf = session.sessionState.newHadoopConf()
      val last = new CheckpointReport(CheckpointPath.read(path), conf, None).lastWatermark
      last.toSeq.flatMap(report => ProgressReport.rows(report.json))
    }
  }
}

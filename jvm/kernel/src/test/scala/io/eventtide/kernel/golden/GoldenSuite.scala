package io.eventtide.kernel.golden

import scala.collection.mutable
import scala.util.control.NonFatal

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.InvalidArgument

/** Plays every golden case that the kernel can play, and says what became of all of them. */
final class GoldenSuite extends AnyFunSuite with BeforeAndAfterAll {
  import GoldenSuite._

  private val deviations = GoldenFiles.deviations
  private val outcomes = mutable.Buffer.empty[(GoldenCase, Outcome)]

  for (file <- GoldenFiles.files)
    test(s"every case of ${file.getFileName} is followed, deviates on purpose or waits") {
      val played = GoldenFiles.cases(file).map(golden => golden -> outcomeOf(golden, deviations))
      outcomes ++= played
      val failed = played.collect { case (golden, Failed(why)) => s"${golden.id}: $why" }
      assert(failed.isEmpty, failed.mkString("\n", "\n", ""))
    }

  test("there are golden cases to play") {
    assert(outcomes.exists(_._2 == Followed))
  }

  override def afterAll(): Unit = {
    waiting.foreach { case (reason, ids) =>
      println(s"golden: waiting: $reason: ${ids.mkString(", ")}")
    }
    println(summary)
  }

  private def waiting: Seq[(String, Seq[String])] =
    outcomes
      .collect { case (golden, Waiting(reason)) => reason -> golden.id }
      .toSeq
      .groupMap(_._1)(_._2)
      .toSeq
      .sortBy(_._1)

  private def summary: String = {
    def count(kind: PartialFunction[Outcome, Unit]): Int =
      outcomes.map(_._2).count(kind.isDefinedAt)
    val followed = count { case Followed => }
    val deviating = count { case Deviating(_) => }
    val waiting = count { case Waiting(_) => }
    val failed = count { case Failed(_) => }
    s"golden: $followed followed, $deviating deviating, $waiting waiting, $failed failed"
  }
}

object GoldenSuite {

  /** What became of a case. */
  sealed trait Outcome
  case object Followed extends Outcome
  final case class Deviating(reason: String) extends Outcome
  final case class Waiting(reason: String) extends Outcome
  final case class Failed(why: String) extends Outcome

  /** Plays a case; one that is listed as a deviation must not be followed. */
  def outcomeOf(golden: GoldenCase, deviations: Map[String, String]): Outcome =
    try { GoldenPlayers.play(golden); deviations.get(golden.id).fold[Outcome](Followed)(stale) }
    catch {
      case waiting: GoldenWaiting => Waiting(waiting.reason)
      case other @ (_: GoldenMismatch | _: InvalidArgument) =>
        deviations.get(golden.id).fold[Outcome](Failed(other.getMessage))(Deviating(_))
      case NonFatal(other) => Failed(other.toString) // a fault is never a deviation
    }

  private def stale(reason: String): Outcome =
    Failed(s"listed as a deviation, but followed: $reason")
}

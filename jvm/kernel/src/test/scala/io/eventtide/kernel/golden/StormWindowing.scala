package io.eventtide.kernel.golden

import scala.collection.mutable

import io.eventtide.kernel.rowwindow._
import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.window._

/** Something that has Storm's windows. */
trait StormWindowing {
  def add(row: GoldenArgs): Unit
  def advance(watermark: Long): Seq[StormGiven]

  /** Whether a row of that time may be in a window to come. */
  def mayBeShown(ts: Long): Boolean
}

object StormWindowing {

  /** All that can have these windows: those over rows, in small blocks and in large ones, and those over
    * frames where length and slide are times.
    */
  def all(config: GoldenArgs): Seq[StormWindowing] = {
    val spec = RetainedRowSpec(extent(config.inside("length")), extent(config.inside("slide")))
    val byRow =
      Seq(RowLimits(rows = 3, bytes = 1000, atHand = 5), RowLimits()).map(new OfRows(spec, _))
    spec match {
      case RetainedRowSpec(WindowLength.Time(length), WindowLength.Time(slide)) =>
        byRow ++ Seq(true, false).map(new OfFrames(length, slide, _))
      case _ => byRow
    }
  }

  private def extent(of: GoldenArgs): WindowLength =
    if (of.has("ms")) WindowLength.Time(of.long("ms"))
    else WindowLength.Rows(of.long("count").toInt)

  private final class OfRows(spec: RetainedRowSpec, limits: RowLimits) extends StormWindowing {
    private val run = new StormRun(spec, limits)
    private val rows = mutable.Map.empty[String, Any]
    private var lastEnd = Option.empty[Long]

    def add(row: GoldenArgs): Unit = {
      val id = row.get("id")
      rows(id.toString) = id
      run.add(id.toString, row.long("ts"))
    }

    def advance(watermark: Long): Seq[StormGiven] = {
      val (_, panes) = run.advance(Some(watermark))
      lastEnd = panes.lastOption.map(_.end).orElse(lastEnd)
      panes.map { pane =>
        val start = Some(spec.length).collect { case WindowLength.Time(length) =>
          pane.end - length
        }
        StormGiven(start, pane.end, pane.rows.map(rows).toSet)
      }
    }

    // A window of so much time ends at or after the last one.
    def mayBeShown(ts: Long): Boolean = spec.length match {
      case WindowLength.Time(length) => lastEnd.forall(ts > _ - length)
      case _: WindowLength.Rows => true
    }
  }

  /** A slide that does not divide the length, as Storm allows, makes windows of smaller frames, of
    * which only those count that end with a slide.
    */
  private final class OfFrames(length: Long, slide: Long, deducts: Boolean) extends StormWindowing {
    private val frame = Frame(BigInt(length).gcd(slide).toLong)
    private val shape = Sliding(Math.toIntExact(length / frame.size))
    private val engine = new GoldenWindows(WindowSpec(frame, shape, Profile.storm), deducts)

    def add(row: GoldenArgs): Unit = engine.observe("all", row.long("ts"), row): Unit

    def advance(watermark: Long): Seq[StormGiven] =
      engine.advance(watermark).filter(pane => Math.floorMod(pane.end, slide) == 0).map { pane =>
        StormGiven(Some(pane.start), pane.end, pane.ids)
      }

    def mayBeShown(ts: Long): Boolean = engine.watermark("all").forall(ts > _ - length - slide)
  }
}

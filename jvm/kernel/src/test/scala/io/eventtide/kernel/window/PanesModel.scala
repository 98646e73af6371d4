package io.eventtide.kernel.window

/** Keeps every row, and which rows each trigger has emitted in which window. */
private[window] final class PanesModel(one: PanesLawsSuite.Case) {
  import PanesLawsSuite._
  import PanesModel.{Row, Window}
  import one._
  private var rows = Vector.empty[Row]
  private var count = 0
  private var before = Option.empty[Long]
  private var countBefore = 0
  private val states = triggers.map(new State(_))
  private var closed = Set.empty[(Long, Int)] // rows in a result of a closed window
  private val indexes = collection.mutable.Map.empty[Int, Map[Long, Int]]

  private final class State(val trigger: Trigger) {
    var seen = Set.empty[(Long, Int)]
    var dueAt = Option.empty[Long]

    def fresh(window: Window): Seq[Row] =
      window.rows.filterNot(row => seen(window.id -> row.number))

    def close(open: Seq[Window], now: Long): Set[Window] = {
      val changed = open.filter(fresh(_).nonEmpty)
      if (changed.isEmpty) dueAt = None
      else if (dueAt.isEmpty) dueAt = trigger.every.map(now + _)
      if (trigger.onUpdate || trigger.onCondition || dueAt.exists(_ <= now)) changed.toSet
      else trigger.rows.toSet.flatMap(full(changed, _: Int))
    }

    // Windows that share fresh rows, directly or by others, fire together.
    private def full(changed: Seq[Window], least: Int): Set[Window] = {
      def grown(group: Set[Window]): Set[Window] = {
        val rows = group.flatMap(fresh)
        val more = changed.filter(window => fresh(window).exists(rows)).toSet
        if (more == group) group else grown(more)
      }
      changed
        .filter(fresh(_).length >= least)
        .map(window => grown(Set(window)))
        .foldLeft(
          Set.empty[Window]
        )(_ ++ _)
    }

    def see(window: Window): Unit =
      seen ++= window.rows.map(row => window.id -> row.number)
  }

  private def windows: Seq[Window] = kind match {
    case Frames(shape, _) =>
      val ends = rows.flatMap(row => row.ts + 1 to shape.lastEnd(row.ts)).distinct.sorted
      ends.map { end =>
        val start = shape.start(end)
        Window(end, start, end, rows.filter(row => row.ts >= start && row.ts < end))
      }
    case Counts(size, slide) => counts(size, slide)
    case gaps: Gaps =>
      rows.sortBy(_.ts).foldLeft(Vector.empty[Window]) { (all, row) =>
        val end = row.ts + gaps.of(row.number)
        all.lastOption.filter(row.ts < _.end) match {
          case Some(last) =>
            all.init :+ Window(0, last.start, math.max(last.end, end), last.rows :+ row)
          case None => all :+ Window(0, row.ts, end, Seq(row))
        }
      }
  }

  private def counts(size: Int, slide: Int): Seq[Window] =
    (slide to rows.length - 1 + size by slide)
      .map { end =>
        val start = math.max(0, end - size)
        Window(
          end.toLong,
          start.toLong,
          math.min(end, rows.length).toLong,
          rows.slice(start, end)
        )
      }
      .filter(_.rows.nonEmpty)

  private def canChange(window: Window, watermark: Option[Long]): Boolean = kind match {
    case _: Counts => window.id > (if (watermark == before) countBefore else rows.length)
    case _ => watermark.forall(window.end > _ - delay - lateness)
  }

  private def closes(window: Window, batch: Batch): Boolean = kind match {
    case _: Counts => window.id <= rows.length
    case _ => window.end <= batch.watermark - delay
  }

  private def take(row: Row): Boolean = {
    rows :+= row
    val taken = windows.filter(_.rows.contains(row)).exists(canChange(_, before))
    if (!taken) rows = rows.init
    taken
  }

  // A row that is taken may make another one on time.
  private def left(late: Seq[Row]): Seq[Row] = {
    val still = late.filterNot(take)
    if (still.length == late.length) still else left(still)
  }

  def play(): Seq[Answer] = batches.map { batch =>
    val arrived = batch.rows.map { ts => count += 1; Row(ts, count) }
    val first = arrived.filterNot(take)
    val late = kind match {
      case _: Frames | _: Counts => first
      case _: Gaps => left(first)
    }
    val panes = emit(batch)
    before = Some(batch.watermark)
    countBefore = rows.length
    kind match { // a row of a session goes with it
      case _: Frames | _: Counts => ()
      case _: Gaps => rows = windows.filter(canChange(_, before)).flatMap(_.rows).toVector
    }
    Answer(panes.sortBy(pane => (pane.end, pane.start, pane.trigger)), late.map(_.number).sorted)
  }

  private def emit(batch: Batch): Seq[Given] = {
    val all = windows.filter(canChange(_, before))
    val (closing, open) = all.partition(closes(_, batch))
    val changed = closing.filter(w => w.rows.exists(row => !closed(w.id -> row.number)))
    val firing = states.map(state => state.close(open, batch.now))
    val atClose = changed.flatMap(paneAtClose(_, batch))
    val early = open.flatMap { window =>
      panesOf(window, PaneTiming.Early, isLast = false) { state =>
        firing(states.indexOf(state))(window) &&
        (!state.trigger.onCondition || holds(window.rows.map(_.number)))
      }
    }
    states.zip(firing).foreach { case (state, windows) => windows.foreach(state.see) }
    states.zip(firing).foreach { case (state, fired) =>
      if (open.forall(state.fresh(_).isEmpty)) state.dueAt = None
    }
    atClose ++ early
  }

  private def isUpdate(window: Window): Boolean =
    !kind.isInstanceOf[Counts] && before.exists(window.end <= _ - delay)

  private def paneAtClose(window: Window, batch: Batch): Seq[Given] = {
    val timing =
      if (isUpdate(window)) PaneTiming.Late else PaneTiming.OnTime
    val isLast = kind.isInstanceOf[Counts] || !canChange(window, Some(batch.watermark))
    val panes = panesOf(window, timing, isLast) { state =>
      state.trigger.atEnd || state.fresh(window).nonEmpty &&
      (!state.trigger.onCondition || holds(window.rows.map(_.number)))
    }
    closed ++= window.rows.map(row => window.id -> row.number)
    states.foreach(_.see(window))
    panes
  }

  private def panesOf(window: Window, timing: PaneTiming, isLast: Boolean)(
      fires: State => Boolean
  ): Seq[Given] = {
    val index = window.rows
      .map(row =>
        indexes
          .getOrElse(row.number, Map.empty)
          .getOrElse(window.id, 0)
      )
      .max
    val panes = states.zipWithIndex.filter(one => fires(one._1)).zipWithIndex.map {
      case ((state, trigger), more) =>
        val rows = if (discards) state.fresh(window) else window.rows
        val numbers = rows.map(_.number).sorted
        Given(window.start, window.end, trigger, index + more, timing, isLast, numbers)
    }
    for (row <- window.rows; of = indexes.getOrElse(row.number, Map.empty))
      indexes(row.number) = of + (window.id -> (index + panes.length))
    panes
  }

  def shown: Seq[(Long, Seq[Int])] =
    windows.filter(canChange(_, before)).map(w => w.end -> w.rows.map(_.number).sorted)
}

private object PanesModel {
  private final case class Row(ts: Long, number: Int)
  private final case class Window(id: Long, start: Long, end: Long, rows: Seq[Row])
}

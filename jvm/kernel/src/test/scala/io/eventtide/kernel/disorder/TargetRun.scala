package io.eventtide.kernel.disorder

/** A substream whose watermark stays the learnt lag behind its highest time, played by batches. */
private[disorder] final class TargetRun(spec: LateTargetSpec) {
  val target = new LateTarget(spec)
  private var top = Option.empty[Long]
  private var longest = 0L
  var watermark: Option[Long] = None
  var rows = 0L
  var late = 0L

  /** The late rows of the batch with the most of them. */
  var mostInBatch = 0L

  /** Late rows while the watermark waited for its top, since the lag had grown. */
  var whileWaiting = 0L

  /** Late rows whose disorder was above all earlier ones. */
  var unforeseen = 0L

  /** Plays a batch; returns its late rows. */
  def batch(times: Seq[Long]): Long = {
    val missed = times.filter(time => watermark.exists(time < _))
    val disorder = new DisorderHistogram
    times.foreach(time => disorder.add(top.fold(0L)(_ - time)))
    val waits = top.exists(at => watermark.exists(_ > at - target.lag))
    if (waits) whileWaiting += missed.size
    else unforeseen += missed.count(time => top.get - time > longest)
    mostInBatch = math.max(mostInBatch, missed.size.toLong)
    target.observe(disorder, missed.size.toLong)
    longest = math.max(longest, disorder.longest)
    if (times.nonEmpty) top = Some((top.toSeq ++ times).max)
    watermark = (watermark ++ top.map(_ - target.lag)).maxOption
    rows += times.size
    late += missed.size
    missed.size.toLong
  }
}

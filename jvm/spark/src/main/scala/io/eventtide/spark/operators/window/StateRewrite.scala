package io.eventtide.spark.operators.window

import org.apache.spark.sql.execution.streaming.state.StateStore

import io.eventtide.kernel.window.{ByteSink, ByteSource, FrameBlockCopy}
import io.eventtide.spark.state.{
  AggregateFunctions,
  BufferLayout,
  BufferLayoutStore,
  BufferPool,
  FrameStore,
  RewritingBufferPool
}

/** Rewrites the state of a partition whose query had other aggregates. This happens once, in the
  * first batch of the query with the present aggregates. The layout is part of the state, so a
  * replayed batch finds the layout that the previous batch has written.
  */
private[window] final class StateRewrite(
    task: WindowTaskSpec,
    store: StateStore,
    state: FrameStore,
    calls: AggregateFunctions,
    buffers: BufferPool
) {
  private val layouts = new BufferLayoutStore(store, task.spec.families)

  /** @param groups
    *   the groups of keys that share a watermark
    */
  def ifChanged(groups: Option[SharedWatermarkGroups]): Unit =
    task.spec.layout(calls).foreach { layout =>
      val saved = layouts.read() // None in a new partition
      if (!saved.contains(layout.text)) {
        saved.map(BufferLayout.read).foreach(rewrite(_, layout, groups))
        layouts.write(layout.text)
      }
    }

  private def rewrite(
      from: BufferLayout,
      layout: BufferLayout,
      groups: Option[SharedWatermarkGroups]
  ): Unit = {
    val pool = new RewritingBufferPool(buffers, calls, from, layout)
    val spec = task.spec.copy(readsDeducted = from.deducts && !layout.deducts)
    val windows = task.copy(spec = spec, isRewrite = true).buffering(state, calls, pool, groups)
    val block = new FrameBlockCopy(pool)
    state.rewriteAll(ofOneKey(pool, windows.copyRecord), ofOneKey(pool, block.apply))
  }

  private def ofOneKey(pool: BufferPool, copy: (ByteSource, ByteSink) => Unit)(
      in: ByteSource,
      out: ByteSink
  ): Unit = {
    pool.reset()
    copy(in, out)
  }
}

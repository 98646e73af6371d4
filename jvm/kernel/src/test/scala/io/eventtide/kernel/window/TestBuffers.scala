package io.eventtide.kernel.window

import scala.collection.mutable

/** Buffers that hold the numbers of rows: a result says exactly which rows are in it.
  *
  * A row merged twice is there twice; one deducted that is not there fails.
  */
final class RowBuffers extends Buffers {
  private val all = mutable.ArrayBuffer.empty[Vector[Int]]
  var merges = 0

  /** The numbers of buffers are good for one key at a time. */
  def reset(): Unit = all.clear()

  def of(rows: Int*): Int = { all += rows.toVector; all.length - 1 }
  def apply(buffer: Int): Vector[Int] = all(buffer)

  def fresh(): Int = of()
  def copy(from: Int): Int = of(all(from): _*)
  def merge(into: Int, from: Int): Unit = { merges += 1; all(into) = all(into) ++ all(from) }

  def deduct(into: Int, from: Int): Unit = {
    merges += 1
    val left = all(into).diff(all(from))
    assert(left.length == all(into).length - all(from).length, "deducts what is not there")
    all(into) = left
  }

  def write(buffer: Int, out: ByteSink): Unit = {
    out.putCount(all(buffer).length.toLong)
    all(buffer).foreach(row => out.putNumber(row.toLong))
  }

  def read(in: ByteSource): Int = of(Seq.fill(in.getCount().toInt)(in.getNumber().toInt): _*)
}

/** Blocks in memory, as bytes, so that nothing of a buffer outlives its key. */
final class MemoryArchive extends FrameArchive {
  private val blocks = mutable.HashMap.empty[Long, Array[Byte]]
  private val shared = new ByteSink
  var reads = 0
  var writes = 0

  def size: Int = blocks.size

  def sink(): ByteSink = { shared.reset(0); shared }

  def write(block: Long, content: ByteSink): Unit = {
    writes += 1
    blocks(block) = content.bytes.take(content.position)
  }

  def read(block: Long): ByteSource = {
    reads += 1
    val source = new ByteSource
    source.reset(blocks(block), 0)
    source
  }

  def remove(block: Long): Unit = assert(blocks.remove(block).isDefined, s"no block $block")
}

package io.eventtide.kernel.window

import scala.collection.mutable

/** Buffers that hold the numbers of rows: a result says exactly which rows are in it.
  *
  * A row merged twice is there twice; one deducted that is not there fails, and so does the use of a
  * buffer that was released, or of one of the key before.
  */
final class ObjectBufferPool extends Buffers {
  private val all = mutable.ArrayBuffer.empty[Option[Vector[Int]]]
  private var ofKeysBefore = 0
  var merges = 0
  var live = 0
  var mostLive = 0

  /** The numbers of buffers are good for one key at a time. */
  def reset(): Unit = {
    ofKeysBefore += all.length
    all.clear()
    live = 0
    mostLive = 0
  }

  def of(rows: Int*): Int = {
    all += Some(rows.toVector)
    live += 1
    mostLive = math.max(mostLive, live)
    ofKeysBefore + all.length - 1
  }

  def apply(buffer: Int): Vector[Int] = {
    assert(buffer >= ofKeysBefore, s"buffer $buffer is another key's")
    all(buffer - ofKeysBefore).getOrElse(throw new AssertionError(s"buffer $buffer was released"))
  }

  private def update(buffer: Int, rows: Vector[Int]): Unit = all(buffer - ofKeysBefore) = Some(rows)

  def fresh(): Int = of()
  def copy(from: Int): Int = of(this(from): _*)
  def merge(into: Int, from: Int): Unit = { merges += 1; this(into) = this(into) ++ this(from) }

  def deduct(into: Int, from: Int): Unit = {
    merges += 1
    val left = this(into).diff(this(from))
    assert(left.length == this(into).length - this(from).length, "deducts what is not there")
    this(into) = left
  }

  def release(buffer: Int): Unit = {
    this(buffer): Unit
    all(buffer - ofKeysBefore) = None
    live -= 1
  }

  def write(buffer: Int, out: ByteSink): Unit = {
    out.putCount(this(buffer).length.toLong)
    this(buffer).foreach(row => out.putNumber(row.toLong))
  }

  def read(in: ByteSource): Int = of(Seq.fill(in.getCount().toInt)(in.getNumber().toInt): _*)
}

/** Blocks in memory, as bytes, so that nothing of a buffer outlives its key. */
final class MemoryArchive extends BlockStore {
  private val blocks = mutable.HashMap.empty[Long, Array[Byte]]
  private val shared = new ByteSink
  var reads = 0
  var writes = 0
  var changes = 0 // blocks written or removed, ever

  def size: Int = blocks.size

  def sink(): ByteSink = { shared.reset(0); shared }

  def write(block: Long, content: ByteSink): Unit = {
    writes += 1
    changes += 1
    blocks(block) = content.bytes.take(content.position)
  }

  def read(block: Long): ByteSource = {
    reads += 1
    val source = new ByteSource
    source.reset(blocks(block), 0)
    source
  }

  def remove(block: Long): Unit = {
    changes += 1
    assert(blocks.remove(block).isDefined, s"no block $block")
  }
}

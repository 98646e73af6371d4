package io.eventtide.spark.testkit

import scala.collection.mutable

import io.eventtide.kernel.window.{Buffers, ByteSink, ByteSource}

/** Buffers that hold row numbers, so that a result lists its rows. */
private[testkit] final class RowIdBuffers extends Buffers {
  private val all = mutable.ArrayBuffer.empty[Vector[Int]]

  def of(rows: Vector[Int]): Int = {
    all += rows
    all.length - 1
  }

  def apply(buffer: Int): Vector[Int] = all(buffer)

  /** Discards all buffers, which must no longer be in use. */
  def reset(): Unit = all.clear()

  def fresh(): Int = of(Vector.empty)
  def copy(from: Int): Int = of(all(from))
  def merge(into: Int, from: Int): Unit = all(into) = all(into) ++ all(from)
  def deduct(into: Int, from: Int): Unit = all(into) = all(into).diff(all(from))
  def release(buffer: Int): Unit = all(buffer) = Vector.empty

  def write(buffer: Int, out: ByteSink): Unit = {
    out.putCount(all(buffer).length.toLong)
    all(buffer).foreach(row => out.putNumber(row.toLong))
  }

  def read(in: ByteSource): Int = of(Vector.fill(in.getCount().toInt)(in.getNumber().toInt))
}

package io.eventtide.spark.operators.window

import scala.collection.mutable

/** A set of key ids, one bit each; the ids of keys that were created together are close. */
private[window] final class KeyIdBitmap {
  private val pages = mutable.LongMap.empty[Array[Long]]
  private var number = -1L // the selected page; -1 before the first
  private var page: Array[Long] = _

  def add(id: Long): Unit = {
    select(id)
    if (page == null) {
      page = new Array[Long](KeyIdBitmap.PageWords)
      pages(number) = page
    }
    page(word(id)) |= 1L << id
  }

  def contains(id: Long): Boolean = {
    select(id)
    page != null && (page(word(id)) & 1L << id) != 0
  }

  private def word(id: Long): Int = (id >>> 6).toInt & (KeyIdBitmap.PageWords - 1)

  private def select(id: Long): Unit = {
    val wanted = id >>> KeyIdBitmap.PageBits
    if (wanted != number) {
      number = wanted
      page = pages.getOrNull(wanted)
    }
  }
}

private object KeyIdBitmap {
  private val PageBits = 12
  private val PageWords = 1 << (PageBits - 6)
}

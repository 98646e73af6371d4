package io.eventtide.spark.exec

import org.apache.spark.sql.catalyst.InternalRow

/** The rows of a partition, watched as they pass; refused ones are left out. */
private[exec] final class WatchedRows(rows: Iterator[InternalRow], reader: RowReader#OpenReader)
    extends Iterator[InternalRow] {

  private var row: InternalRow = _
  private var ready = false

  override def hasNext: Boolean = {
    while (!ready && rows.hasNext) {
      row = rows.next()
      ready = reader.accept(row)
    }
    ready
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    ready = false
    row
  }
}

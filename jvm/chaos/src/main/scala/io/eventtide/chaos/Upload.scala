package io.eventtide.chaos

import java.io.FilterOutputStream
import java.nio.file.{Files, Path, StandardCopyOption}

/** A file of an object store, which does not exist until it is closed.
  *
  * @param target
  *   where it is from then on
  * @param overwrite
  *   whether in place of one that is there; a conditional request fails otherwise
  */
private final class Upload(staged: Path, target: Path, overwrite: Boolean)
    extends FilterOutputStream(Files.newOutputStream(staged)) {

  override def write(bytes: Array[Byte], from: Int, length: Int): Unit =
    out.write(bytes, from, length)

  override def close(): Unit = {
    super.close()
    if (overwrite) Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE): Unit
    else Upload.putIfAbsent(staged, target)
  }
}

private object Upload {

  /** @param staging
    *   the folder for what has not been closed
    */
  def begin(staging: Path, target: Path, overwrite: Boolean): Upload =
    new Upload(
      Files.createTempFile(Files.createDirectories(staging), "upload", ""),
      target,
      overwrite
    )

  /** Gives a file its name, in one step; fails where the name is taken. */
  def putIfAbsent(from: Path, to: Path): Unit = {
    Files.createLink(to, from)
    Files.delete(from)
  }
}

package io.eventtide.spark

import java.io.File
import java.net.URI
import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path, RawLocalFileSystem}

/** The paths of examples, such as `/data/counts`, in a temporary folder. */
final class PageFiles extends RawLocalFileSystem {
  override def getUri: URI = URI.create("page:///")
  override def getScheme: String = "page"

  override def pathToFile(path: Path): File =
    new File(PageFiles.folder, new Path("/", path).toUri.getPath)
}

object PageFiles {
  private val folder = Files.createTempDirectory("page").toFile

  /** Works with a configuration in which a path without a scheme is one of an example. */
  def in(conf: Configuration)(work: => Unit): Unit = {
    conf.setClass("fs.page.impl", classOf[PageFiles], classOf[RawLocalFileSystem])
    conf.set("fs.defaultFS", "page:///")
    try work
    finally conf.unset("fs.defaultFS")
  }
}

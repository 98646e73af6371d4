package io.eventtide.spark.checkpoint

import java.io.{ByteArrayOutputStream, IOException}
import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.concurrent.TrieMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  Abortable,
  FSDataOutputStream,
  FSDataOutputStreamBuilder,
  FileSystem,
  Path,
  RawLocalFileSystem
}
import org.apache.hadoop.util.Progressable

/** An object store as Hadoop's S3A shows it, on the local disk: `cond:/folder/file`. A file exists when
  * its writer closes it, and may be refused then.
  */
final class ConditionalStore extends RawLocalFileSystem {
  import ConditionalStore._

  override def getUri: URI = URI.create("cond:///")
  override def getScheme: String = "cond"

  override def hasPathCapability(path: Path, capability: String): Boolean =
    capability == ConditionalCheckpointFiles.CreateOnly && getConf.getBoolean(Able, true)

  override def getXAttr(path: Path, name: String): Array[Byte] =
    writers
      .getOrElse(path.toUri.getPath, throw new IOException(s"$path has no $name"))
      .getBytes(UTF_8)

  override def createFile(path: Path): FSDataOutputStreamBuilder[_, _] = new Builder(this, path)

  private final class Builder(store: FileSystem, path: Path)
      extends FSDataOutputStreamBuilder[FSDataOutputStream, Builder](store, path) {
    override def getThisBuilder: Builder = this

    override def build(): FSDataOutputStream = {
      val createOnly = getMandatoryKeys.contains(ConditionalCheckpointFiles.CreateOnly)
      val writer = getOptions.get("fs.s3a.create.header.eventtide-writer")
      new FSDataOutputStream(new Upload(path, createOnly, writer), null)
    }
  }

  private final class Upload(path: Path, createOnly: Boolean, writer: String)
      extends ByteArrayOutputStream
      with Abortable {

    override def close(): Unit = {
      attempt()
      if (losesAnswers) attempt()
      if (failsAfterwards) throw new IOException("no answer")
    }

    private def attempt(): Unit = synchronized {
      if (createOnly && exists(path)) throw new IOException(s"412: $path")
      val out = create(path, true, 4096, 1: Short, 4096L, null: Progressable)
      out.write(toByteArray)
      out.close()
      writers(path.toUri.getPath) = writer
    }

    override def abort(): Abortable.AbortableResult = new Abortable.AbortableResult {
      override def alreadyClosed: Boolean = false
      override def anyCleanupException: IOException = null
    }
  }
}

object ConditionalStore {
  val Able = "cond.able"
  private val writers = TrieMap.empty[String, String]

  /** Whether an answer is lost, so that the request is sent again. */
  @volatile var losesAnswers = false

  /** Whether the last answer is lost, too. */
  @volatile var failsAfterwards = false

  def conf(): Configuration = {
    val conf = new Configuration()
    conf.set("fs.cond.impl", classOf[ConditionalStore].getName)
    conf.set("fs.cond.impl.disable.cache", "true")
    conf
  }
}

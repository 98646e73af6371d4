package io.eventtide.spark

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager
import org.apache.spark.sql.internal.SQLConf

/** How suites write checkpoint files: by renaming them, or as an object store has them, with
  * `EVENTTIDE_CHECKPOINT_FILES=direct` as CI does on all but the newest Spark.
  *
  * Spark's own default starts a dozen processes a batch where Hadoop has no native library.
  */
object CheckpointConf {
  val Key: String = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  val Manager: String = {
    val manager = sys.env.getOrElse("EVENTTIDE_CHECKPOINT_FILES", "renamed") match {
      case "renamed" => classOf[FileSystemBasedCheckpointFileManager]
      case "direct" => classOf[DirectFiles]
      case other =>
        throw new IllegalArgumentException(
          s"EVENTTIDE_CHECKPOINT_FILES is $other, but must be renamed or direct"
        )
    }
    manager.getName
  }

  /** A configuration for what needs no session. */
  def apply(): Configuration = {
    val conf = new Configuration()
    conf.set(Key, Manager)
    conf
  }
}

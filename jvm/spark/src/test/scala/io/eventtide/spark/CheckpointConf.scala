package io.eventtide.spark

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.internal.SQLConf

import io.eventtide.spark.checkpoint.AtomicCheckpointFileManager

/** How suites write checkpoint files: on a local disk, or as on an object store, with
  * `EVENTTIDE_CHECKPOINT_FILES=direct`, which CI sets on all but the newest Spark.
  */
object CheckpointConf {
  val Key: String = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  val Manager: String = {
    val manager = sys.env.getOrElse("EVENTTIDE_CHECKPOINT_FILES", "local") match {
      case "local" => classOf[AtomicCheckpointFileManager]
      case "direct" => classOf[DirectFiles]
      case other =>
        throw new IllegalArgumentException(
          s"EVENTTIDE_CHECKPOINT_FILES is $other, but must be local or direct"
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

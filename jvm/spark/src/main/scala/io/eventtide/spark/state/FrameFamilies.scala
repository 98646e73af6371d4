package io.eventtide.spark.state

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider,
  StateStoreProviderId
}
import org.apache.spark.sql.types.{BinaryType, LongType, StructField, StructType}

/** The column families in which a window keeps its state, by partition of the keys.
  *
  * {{{
  *   default   keys               -> ring      the frames of a key, all or the newest and the oldest
  *   blocks    keys, first frame  -> frames    what lies between, of a long window or a long lag
  *   history   keys, first frame  -> frames    as blocks, of closed windows that late rows may change
  *   due       end, keys          -> key id    in order, from which end on a key owes results
  *   deadline  time, keys         -> key id    in order, when a key is due by the clock
  *   partition 0                  -> facts     how many keys, where indexes begin, what has closed
  * }}}
  *
  * Values are bytes with a version in front, so that the format can change with the checkpoint kept.
  */
private[spark] final case class FrameFamilies(keys: StructType) {
  val ring: StructType = FrameFamilies.bytes("ring")
  val ringKey: KeyStateEncoderSpec = NoPrefixKeyStateEncoderSpec(keys)

  private[state] val blockKeys = StructType(keys.fields :+ FrameFamilies.number("block"))
  private[state] val indexKeys = StructType(FrameFamilies.number("due") +: keys.fields)
  private[state] val partitionKeys = StructType(Seq(FrameFamilies.number("partition")))

  /** A provider of one partition's state for the caller alone, who closes it. */
  def provider(
      id: StateStoreId,
      conf: StateStoreConf,
      hadoopConf: Configuration
  ): StateStoreProvider = StateStoreProvider.createAndInit(
    StateStoreProviderId(id, UUID.randomUUID()),
    keys,
    ring,
    ringKey,
    useColumnFamilies = true,
    conf,
    hadoopConf,
    useMultipleValuesPerKey = false,
    stateSchemaProvider = None
  )

  /** Makes the families that a store has not from the start. */
  def create(store: StateStore): Unit = {
    val blocks = NoPrefixKeyStateEncoderSpec(blockKeys)
    val frames = FrameFamilies.bytes("frames")
    Seq(FrameFamilies.Blocks, FrameFamilies.History).foreach { family =>
      store.createColFamilyIfAbsent(family, blockKeys, frames, blocks)
    }
    val inOrder = RangeKeyScanStateEncoderSpec(indexKeys, Seq(0))
    val ids = StructType(Seq(FrameFamilies.number("id")))
    Seq(FrameFamilies.Due, FrameFamilies.Deadline).foreach { index =>
      store.createColFamilyIfAbsent(index, indexKeys, ids, inOrder)
    }
    val one = NoPrefixKeyStateEncoderSpec(partitionKeys)
    val facts = FrameFamilies.bytes("facts")
    store.createColFamilyIfAbsent(FrameFamilies.Partition, partitionKeys, facts, one)
  }
}

private[spark] object FrameFamilies {
  val Blocks = "blocks"
  val History = "history"
  val Due = "due"
  val Deadline = "deadline"
  val Partition = "partition"

  private def bytes(name: String) = StructType(Seq(StructField(name, BinaryType, nullable = false)))

  private def number(name: String) = StructField(name, LongType, nullable = false)
}

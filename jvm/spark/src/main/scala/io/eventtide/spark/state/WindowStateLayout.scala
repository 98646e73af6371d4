package io.eventtide.spark.state

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils
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

/** The column families of a window's state, per partition of the keys.
  *
  * {{{
  *   default   keys               -> ring      all frames of a key, or the newest and oldest
  *   blocks    keys, first frame  -> frames    the frames between, of a long window or a long lag
  *   history   keys, first frame  -> frames    closed frames that late rows may still change
  *                                             For Storm windows, blocks has the rows of windows,
  *                                             and history the rows above the watermark.
  *   due       end, keys          -> key id    the first window end with a timer of a key, in order
  *   deadline  time, keys         -> key id    the processing-time timer of a key, in order
  *   partition 0                  -> facts     number of keys, first index entries, closed boundary
  *   groups    group              -> time      the watermark that the keys of a group share
  *   in_group  group id, end, keys -> key id   as due, by the watermark of the group
  * }}}
  *
  * Values are bytes that start with a version, so that the format can change without a new
  * checkpoint.
  *
  * @param groups
  *   the ordinals of the key columns that identify a group with one watermark; None without groups
  */
private[spark] final case class WindowStateLayout(
    keys: StructType,
    groups: Option[Seq[Int]] = None
) {
  val ring: StructType = WindowStateLayout.bytes("ring")
  val ringKey: KeyStateEncoderSpec = NoPrefixKeyStateEncoderSpec(keys)

  private[state] val blockKeys = StructType(keys.fields :+ WindowStateLayout.number("block"))
  private[state] val dueIndex = IndexLayout(WindowStateLayout.Due, Seq("due"), keys)
  private[state] val deadlineIndex = IndexLayout(WindowStateLayout.Deadline, Seq("due"), keys)
  private[state] val groupIndex = IndexLayout(WindowStateLayout.InGroup, Seq("group", "due"), keys)
  private[state] val partitionKeys = StructType(Seq(WindowStateLayout.number("partition")))

  /** A provider of one partition's state for exclusive use; the caller closes it. */
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

  /** Creates the families that a store does not have yet. */
  def create(store: StateStore): Unit = {
    val blocks = NoPrefixKeyStateEncoderSpec(blockKeys)
    val frames = WindowStateLayout.bytes("frames")
    Seq(WindowStateLayout.Blocks, WindowStateLayout.History).foreach { family =>
      store.createColFamilyIfAbsent(family, blockKeys, frames, blocks)
    }
    Seq(dueIndex, deadlineIndex).foreach(_.create(store))
    groups.foreach(createGroups(store, _))
    val one = NoPrefixKeyStateEncoderSpec(partitionKeys)
    val metadata = WindowStateLayout.bytes("facts")
    store.createColFamilyIfAbsent(WindowStateLayout.Partition, partitionKeys, metadata, one)
  }

  private def createGroups(store: StateStore, columns: Seq[Int]): Unit = {
    val groupKeys = StructType(columns.map(keys(_)))
    val one = NoPrefixKeyStateEncoderSpec(groupKeys)
    val time = WindowStateLayout.bytes("time")
    store.createColFamilyIfAbsent(WindowStateLayout.Groups, groupKeys, time, one)
    groupIndex.create(store)
  }
}

/** The columns of an index of keys, which start with the numbers by which it is sorted. */
private[state] final case class IndexLayout(
    family: String,
    ordered: Seq[String],
    keys: StructType
) {
  val numbers: Int = ordered.length
  // A scan starts at an entry with a null key, whether or not keys are nullable.
  val entries: StructType =
    StructType(ordered.map(WindowStateLayout.number) ++ keys.fields.map(_.copy(nullable = true)))
  val ids: StructType = StructType(Seq(WindowStateLayout.number("id")))

  def create(store: StateStore): Unit = {
    val inOrder = RangeKeyScanStateEncoderSpec(entries, ordered.indices)
    store.createColFamilyIfAbsent(family, entries, ids, inOrder)
  }
}

private[spark] object WindowStateLayout {
  val Blocks = "blocks"
  val History = "history"
  val Due = "due"
  val Deadline = "deadline"
  val Partition = "partition"
  val Groups = "groups"
  val InGroup = "in_group"

  /** The layout for these keys.
    *
    * @param groups
    *   the key columns that identify a group; None without groups
    */
  def of(keys: Seq[Attribute], groups: Option[Seq[Attribute]]): WindowStateLayout =
    WindowStateLayout(
      DataTypeUtils.fromAttributes(keys),
      groups.map(_.map(group => keys.indexWhere(_.exprId == group.exprId)))
    )

  private def bytes(name: String) = StructType(Seq(StructField(name, BinaryType, nullable = false)))

  private[state] def number(name: String) = StructField(name, LongType, nullable = false)
}

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

/** The column families in which a window keeps its state, by partition of the keys.
  *
  * {{{
  *   default   keys               -> ring      the frames of a key, all or the newest and the oldest
  *   blocks    keys, first frame  -> frames    what lies between, of a long window or a long lag
  *   history   keys, first frame  -> frames    as blocks, of closed windows that late rows may change
  *                                             of Storm's windows both have rows: those of windows,
  *                                             and those that no watermark has reached
  *   due       end, keys          -> key id    in order, from which end on a key owes results
  *   deadline  time, keys         -> key id    in order, when a key is due by the clock
  *   partition 0                  -> facts     how many keys, where indexes begin, what has closed
  *   groups    group              -> time      the watermark that the keys of a group have
  *   in_group  group id, end, keys -> key id   as due, by the watermark of the group
  * }}}
  *
  * Values are bytes with a version in front, so that the format can change with the checkpoint kept.
  *
  * @param groups
  *   which of the keys tell groups that have a watermark together; None where there are no groups
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
    val frames = WindowStateLayout.bytes("frames")
    Seq(WindowStateLayout.Blocks, WindowStateLayout.DelayLine).foreach { family =>
      store.createColFamilyIfAbsent(family, blockKeys, frames, blocks)
    }
    Seq(dueIndex, deadlineIndex).foreach(_.create(store))
    groups.foreach(createGroups(store, _))
    val one = NoPrefixKeyStateEncoderSpec(partitionKeys)
    val facts = WindowStateLayout.bytes("facts")
    store.createColFamilyIfAbsent(WindowStateLayout.Partition, partitionKeys, facts, one)
  }

  private def createGroups(store: StateStore, columns: Seq[Int]): Unit = {
    val groupKeys = StructType(columns.map(keys(_)))
    val one = NoPrefixKeyStateEncoderSpec(groupKeys)
    val time = WindowStateLayout.bytes("time")
    store.createColFamilyIfAbsent(WindowStateLayout.Groups, groupKeys, time, one)
    groupIndex.create(store)
  }
}

/** The columns of an index of keys, which begin with the numbers that it is in the order of. */
private[state] final case class IndexLayout(
    family: String,
    ordered: Seq[String],
    keys: StructType
) {
  val numbers: Int = ordered.length
  // Scans begin at an entry without a key, whatever keys there are.
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
  val DelayLine = "history"
  val Due = "due"
  val Deadline = "deadline"
  val Partition = "partition"
  val Groups = "groups"
  val InGroup = "in_group"

  /** @param groups
    *   which of the keys tell groups; None where there are none
    */
  def of(keys: Seq[Attribute], groups: Option[Seq[Attribute]]): WindowStateLayout =
    WindowStateLayout(
      DataTypeUtils.fromAttributes(keys),
      groups.map(_.map(group => keys.indexWhere(_.exprId == group.exprId)))
    )

  private def bytes(name: String) = StructType(Seq(StructField(name, BinaryType, nullable = false)))

  private[state] def number(name: String) = StructField(name, LongType, nullable = false)
}

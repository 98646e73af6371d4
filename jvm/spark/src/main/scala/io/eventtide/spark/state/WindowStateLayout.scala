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
  StateStoreColFamilySchema,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider,
  StateStoreProviderId
}
import org.apache.spark.sql.types.{BinaryType, LongType, MetadataBuilder, StructField, StructType}

import io.eventtide.spark.EventtideException

/** The column families of a window's state, per partition of the keys.
  *
  * {{{
  *   default            keys                -> state     all frames of a key, or newest and oldest
  *   pages              hash of keys        -> states    the small states of several keys
  *   blocks             keys, first frame   -> frames    the frames between, of long windows
  *   history            keys, first frame   -> frames    closed frames that late rows may change
  *   event_timers       end, keys           -> key id    the first timer by event time, in order
  *   processing_timers  time, keys          -> key id    the processing-time timer, in order
  *   partition_meta     0                   -> metadata  keys, first timers, closed boundary
  *   groups             group               -> time      the shared watermark of its keys
  *   group_timers       group id, end, keys -> key id    as event_timers, by the group's watermark
  * }}}
  *
  * With `pages`, the default family has only the keys with larger states.
  *
  * For windows that retain rows, `blocks` has the rows of windows, and `history` the rows above the
  * watermark.
  *
  * Values are bytes that start with a version; another version is refused.
  *
  * @param groups
  *   the ordinals of the key columns that identify a group with one watermark; None without groups
  * @param hasFrameTimers
  *   whether timers by event time are window ends, as boundaries; otherwise they are watermarks
  */
private[spark] final case class WindowStateLayout(
    keys: StructType,
    groups: Option[Seq[Int]] = None,
    hasFrameTimers: Boolean = true
) {
  import WindowStateLayout.{GroupMark, TimersMark, marked}

  val windowState: StructType = WindowStateLayout.bytes("window_state")
  val windowStateKey: KeyStateEncoderSpec = NoPrefixKeyStateEncoderSpec(keys)

  private[state] val blockKeys = StructType(keys.fields :+ WindowStateLayout.number("block"))
  private[state] val eventTimers = IndexLayout(WindowStateLayout.EventTimers, Seq("time"), keys)
  private[state] val processingTimers =
    IndexLayout(WindowStateLayout.ProcessingTimers, Seq("time"), keys)
  private[state] val groupTimers =
    IndexLayout(WindowStateLayout.GroupTimers, Seq("group", "time"), keys)
  private[state] val partitionKeys = StructType(Seq(WindowStateLayout.number("partition")))

  /** The ordinals of the key columns by which keys are partitioned; empty for one partition. */
  def together: Seq[Int] = groups.getOrElse(keys.indices)

  /** Whether small states of several keys are in one record, see `KeyPages`. Keys that share a
    * watermark come in the order of their groups, so their pages would be read several times.
    */
  def hasPages: Boolean = !hasFrameTimers && groups.isEmpty

  /** The columns of `groups`. */
  private[state] def groupKeys: StructType = StructType(groups.getOrElse(Nil).map(keys(_)))

  /** The layout in the form of Spark's schema file. Properties other than columns are metadata of a
    * field, which Spark does not compare.
    */
  def schema: StateStoreColFamilySchema = {
    val ofGroups = groups.getOrElse(Nil).zipWithIndex.toMap
    val keyFields = keys.fields.zipWithIndex.map { case (field, at) =>
      ofGroups.get(at).fold(field)(place => marked(field, _.putLong(GroupMark, place.toLong)))
    }
    val value = windowState.fields.map(marked(_, _.putBoolean(TimersMark, hasFrameTimers)))
    StateStoreColFamilySchema(
      StateStore.DEFAULT_COL_FAMILY_NAME,
      keySchemaId = 0,
      StructType(keyFields),
      valueSchemaId = 0,
      StructType(value),
      keyStateEncoderSpec = Some(windowStateKey)
    )
  }

  /** A provider of one partition's state for exclusive use; the caller closes it. */
  def provider(
      id: StateStoreId,
      conf: StateStoreConf,
      hadoopConf: Configuration
  ): StateStoreProvider = StateStoreProvider.createAndInit(
    StateStoreProviderId(id, UUID.randomUUID()),
    keys,
    windowState,
    windowStateKey,
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
    if (hasPages) createPages(store)
    Seq(eventTimers, processingTimers).foreach(_.create(store))
    if (groups.isDefined) createGroups(store)
    val one = NoPrefixKeyStateEncoderSpec(partitionKeys)
    val metadata = WindowStateLayout.bytes("metadata")
    store.createColFamilyIfAbsent(WindowStateLayout.PartitionMeta, partitionKeys, metadata, one)
  }

  private def createPages(store: StateStore): Unit = {
    val keys = StructType(Seq(WindowStateLayout.number("page")))
    val states = WindowStateLayout.bytes("states")
    val one = NoPrefixKeyStateEncoderSpec(keys)
    store.createColFamilyIfAbsent(WindowStateLayout.Pages, keys, states, one)
  }

  private def createGroups(store: StateStore): Unit = {
    val one = NoPrefixKeyStateEncoderSpec(groupKeys)
    val time = WindowStateLayout.bytes("time")
    store.createColFamilyIfAbsent(WindowStateLayout.Groups, groupKeys, time, one)
    groupTimers.create(store)
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
  val Pages = "pages"
  val Blocks = "blocks"
  val History = "history"
  val EventTimers = "event_timers"
  val ProcessingTimers = "processing_timers"
  val PartitionMeta = "partition_meta"
  val Groups = "groups"
  val GroupTimers = "group_timers"

  /** The layout for these keys.
    *
    * @param groups
    *   the key columns that identify a group; None without groups
    */
  def of(
      keys: Seq[Attribute],
      groups: Option[Seq[Attribute]],
      hasFrameTimers: Boolean
  ): WindowStateLayout =
    WindowStateLayout(
      DataTypeUtils.fromAttributes(keys),
      groups.map(_.map(group => keys.indexWhere(_.exprId == group.exprId))),
      hasFrameTimers
    )

  /** The layout that `schema` describes. */
  def read(schema: StateStoreColFamilySchema): WindowStateLayout = {
    val ofGroups = schema.keySchema.fields.map(_.metadata).zipWithIndex.collect {
      case (marks, at) if marks.contains(GroupMark) => marks.getLong(GroupMark) -> at
    }
    val groups = Option.when(ofGroups.nonEmpty)(ofGroups.toSeq.sorted.map(_._2))
    val timers = schema.valueSchema.head.metadata
    if (!timers.contains(TimersMark))
      throw EventtideException("STATE_VERSION", "found" -> "6", "known" -> FrameStore.Version)
    WindowStateLayout(schema.keySchema, groups, timers.getBoolean(TimersMark))
  }

  private val GroupMark = "eventtide.group"
  private val TimersMark = "eventtide.frameTimers"

  private def marked(field: StructField, mark: MetadataBuilder => MetadataBuilder): StructField =
    field.copy(metadata = mark(new MetadataBuilder().withMetadata(field.metadata)).build())

  private def bytes(name: String) = StructType(Seq(StructField(name, BinaryType, nullable = false)))

  private[state] def number(name: String) = StructField(name, LongType, nullable = false)
}

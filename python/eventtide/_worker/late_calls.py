"""The calls of a late-row handler, in the driver's Python or in a worker of a server."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from eventtide.errors import LateHandlerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["LateCalls", "LateContext"]


@dataclass(frozen=True, repr=False)
class LateContext:
    """The second argument of a late-row handler, which describes the rows.

    Attributes
    ----------
    query : StreamingQuery
        The query of the rows. The handler may stop it and wait for it: within the handler these
        methods do not wait for pending calls.
    batch_id : int
        The batch of the query that read the rows, as in ``_batch_id``. It is the same when the
        call is retried, so the handler can be idempotent.
    reasons : mapping of str to int
        The number of rows by reason, as in ``_reason``.
    checkpoint : str
        The checkpoint location of the query.
    """

    query: StreamingQuery
    batch_id: int
    reasons: Mapping[str, int]
    checkpoint: str

    def __repr__(self) -> str:
        """Return the fields, with the name or the id of the query."""
        name = self.query.name or self.query.id
        return (
            f"LateContext(query={name!r}, batch_id={self.batch_id}, reasons={dict(self.reasons)},"
            f" checkpoint={self.checkpoint!r})"
        )


@dataclass(frozen=True)
class LateCalls:
    """A function for ``foreachBatch``: it calls the handler for each batch that has late rows.

    Attributes
    ----------
    handler : callable
        The handler, and `title`, its name in messages.
    logs : bool
        Whether an error of the handler is logged; otherwise it stops the query.
    checkpoint : str
        The checkpoint location of the main query.
    query_of : callable
        Returns the main query, given the late rows.
    """

    handler: Callable[[DataFrame, LateContext], object]
    title: str
    logs: bool
    checkpoint: str
    query_of: Callable[[DataFrame], StreamingQuery]

    def __call__(self, rows: DataFrame, _: int) -> None:
        """Call the handler for the rows, which are of one batch of the main query."""
        counted = rows.groupBy("_batch_id", "_reason").count().collect()
        for batch_id in {row["_batch_id"] for row in counted}:  # at most one batch
            reasons = {row["_reason"]: row["count"] for row in counted}
            known = MappingProxyType(dict(sorted(reasons.items())))
            self._call(rows, LateContext(self.query_of(rows), batch_id, known, self.checkpoint))

    def _call(self, rows: DataFrame, context: LateContext) -> None:
        try:
            self.handler(rows, context)
        except Exception as error:
            if not self.logs:
                raise self._failed(context, error) from error
            text = "The handler of late rows, %s, failed for batch %d of query %s, which continues."
            logger = logging.getLogger("eventtide")
            logger.exception(text, self.title, context.batch_id, context.query.id)

    def _failed(self, context: LateContext, error: Exception) -> LateHandlerError:
        return LateHandlerError(
            f"The handler of late rows, {self.title}, failed for batch {context.batch_id} of query"
            f" {context.query.id}, which was stopped: {error!r}. Start the query again to have it"
            " called for that batch again, or only log its errors:"
            " on_late(handler, on_error='log')."
        )

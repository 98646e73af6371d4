"""The relation that carries a request to the server; its form is that of ``ConnectMessage`` there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.connect import proto
from pyspark.sql.connect.column import Column
from pyspark.sql.connect.functions import builtin as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.connect.plan import LogicalPlan

if TYPE_CHECKING:
    from eventtide._request import Request

__all__ = ["TYPE_URL", "RequestPlan"]

TYPE_URL = "eventtide.io/request.v1"


class RequestPlan(LogicalPlan):
    """A relation of eventtide: rows, options as text, and lists of columns.

    It consists of Spark's own messages, so neither side needs generated classes.
    """

    def __init__(self, rows: LogicalPlan | None, request: Request) -> None:
        """Wrap a request over the rows of a plan; a question needs no rows."""
        self._options = dict(request.options)
        self._columns = {
            name: [column if isinstance(column, Column) else F.col(column) for column in listed]
            for name, listed in request.columns.items()
            if listed
        }
        columns = [column for listed in self._columns.values() for column in listed]
        super().__init__(rows, self._collect_references(columns))

    def plan(self, session: Any) -> proto.Relation:
        """Return the message."""
        message = proto.Project()
        if self._child is not None:
            message.input.CopyFrom(self._child.plan(session))
        message.expressions.add().literal.string = json.dumps(self._options, sort_keys=True)
        for name, listed in self._columns.items():
            columns = message.expressions.add().unresolved_function
            columns.function_name = name
            columns.arguments.extend(column.to_plan(session) for column in listed)
        relation = self._create_proto_relation()
        relation.extension.type_url = TYPE_URL
        relation.extension.value = message.SerializeToString()
        return self._with_relations(relation, session)

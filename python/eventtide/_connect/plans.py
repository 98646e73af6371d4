"""The relation that carries a request to the server, as ``ConnectMessage`` reads it there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.connect import proto
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.functions import builtin as F  # noqa: N812 - PySpark's own convention
from pyspark.sql.connect.plan import LogicalPlan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql.connect.session import SparkSession

    from eventtide._request import Request

__all__ = ["TYPE_URL", "RequestPlan", "answer"]

TYPE_URL = "eventtide.io/request.v1"


class RequestPlan(LogicalPlan):
    """A relation of eventtide: rows, options as text, and lists of columns.

    It consists of Spark's own messages, so neither side needs generated classes.
    """

    def __init__(self, rows: LogicalPlan | None, request: Request) -> None:
        """Wrap a request over the rows of a plan; a question needs no rows."""
        self._options = dict(request.options)
        self._columns: Mapping[str, Sequence[Any]] = {
            name: [F.col(column) if isinstance(column, str) else column for column in listed]
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


class QuestionPlan(RequestPlan):
    """A request for an answer. It has no plan id, so the server does not keep it as a plan."""

    def plan(self, session: Any) -> proto.Relation:
        """Return the message."""
        relation = super().plan(session)
        relation.common.ClearField("plan_id")
        return relation


def answer(session: SparkSession, question: Request, rows: DataFrame | None = None) -> str | None:
    """Return the server's answer to a question, None if it has none."""
    plan = QuestionPlan(None if rows is None else rows._plan, question)
    text: object = DataFrame(plan, session).collect()[0][0]
    return None if text is None else str(text)

"""The type checker: from a syntax tree to typed scalar expressions, by Spark's rules for each operator and function."""

from __future__ import annotations

import pyarrow as pa

from asc.predicate.catalogue.refusals import refusal
from asc.predicate.expressions import types
from asc.predicate.expressions.common_type import wider
from asc.predicate.expressions.expression import Expression
from asc.predicate.functions import FUNCTIONS, Call
from asc.predicate.functions.bounded import BOUNDED
from asc.predicate.functions.concatenation import concatenation_trouble, type_of_concatenation
from asc.predicate.functions.function import plain
from asc.predicate.functions.growth import joined
from asc.predicate.functions.joining import joined_by
from asc.predicate.functions.null_test_spellings import uncaught
from asc.predicate.functions.untyped_null import untyped_null
from asc.predicate.spatial.spatial_forms import SPATIAL_FUNCTIONS, spatial_expression
from asc.predicate.syntax.literal import TIMESTAMP, TIMESTAMP_NTZ, Literal
from asc.predicate.syntax.nodes import Node, Source
from asc.predicate.type_checking.cast import cast, check_collated, collated
from asc.predicate.type_checking.column import column, inside
from asc.predicate.type_checking.hints import WRITE_OR, compared_with_null, joined_conditions
from asc.predicate.type_checking.instant_arithmetic import INSTANT_FUNCTIONS, instant_arithmetic, instant_call
from asc.predicate.type_checking.interval_arithmetic import INTERVAL_FUNCTIONS, TRIED, interval_call, negative
from asc.predicate.type_checking.lambdas import LAMBDA_FUNCTIONS, lambda_call
from asc.predicate.type_checking.left_as_parsed import is_left_as_parsed
from asc.predicate.type_checking.null_tests import NullTests
from asc.predicate.type_checking.pattern_match import pattern_match
from asc.predicate.type_checking.pattern_work import PatternWork
from asc.predicate.type_checking.row_values import row
from asc.predicate.type_checking.suspicion import suspicion, suspicions_of_list
from asc.schema import Schema

ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "div"))
DIVISIONS = frozenset(("/", "%", "div", "mod", "pmod"))
_COMPARING = frozenset(("nullif", "equal_null"))
_BITWISE = frozenset(("&", "|", "^"))
_MAX_JOINED = 100
_MAX_GROWTH = 100.0
_OF_FIXED_WIDTH = types.INTEGERS | {pa.float32(), pa.float64(), pa.bool_(), pa.date32(), TIMESTAMP, TIMESTAMP_NTZ}
COMPARISONS = frozenset(("=", "<=>", "<", "<=", ">", ">="))


class Typer:
    """A type checker of one predicate against a schema. It also writes the SQL with which Spark evaluates each
    expression.

    It raises PredicateError for an expression with a type error, or one that predicates may not use.
    """

    def __init__(self, source: Source, schema: Schema, *, catches: bool = True) -> None:
        self.source = source
        self.schema = schema
        self.catches = catches
        """True if an expression for which Spark could throw is rewritten so that it is NULL instead.

        It is False within a null test that catches all exceptions.
        """
        self.warnings = source.warnings
        self.columns: set[tuple[str, ...]] = set()
        """The paths of the columns that the predicate has named so far."""
        self.pattern_work = PatternWork(source)
        self._cache: dict[Node, Expression] = {}
        self._joined = 0
        self._grown = 0.0
        self.scopes: list[dict[str, pa.DataType | None]] = []
        """For each lambda that encloses the current node, the types of its variables by name in lower case."""
        self.lambda_nodes = 0
        self.null_tests = NullTests(self, self._without_guards)

    def _without_guards(self) -> Typer:
        """Return a type checker of the same predicate that leaves expressions as the user wrote them, even if Spark may
        throw for them.
        """
        made = Typer(self.source, self.schema, catches=False)
        made.scopes = self.scopes
        return made

    def of(self, node: Node) -> Expression:
        """Return the typed expression of a node of the syntax tree. Each node is typed once."""
        expression = self._cache.get(node)
        if expression is None:
            expression = self._cache[node] = self._made(node)
            if not node.args:
                return expression
            if expression.type in _OF_FIXED_WIDTH:
                expression.growth = 1.0
            else:
                expression.growth = max(
                    expression.growth, *(self._cache[arg].growth for arg in node.args if arg in self._cache)
                )
        return expression

    def _made(self, node: Node) -> Expression:
        check_collated(self, node)
        op = node.op
        if op == "column":
            return column(self, node)
        if op == "literal":
            literal: Literal = node.value
            return Expression(literal.sql, literal.type, node, literal=literal)
        if op in COMPARISONS:
            left, right = self.of(node.args[0]), self.of(node.args[1])
            self.check_comparable(node, left, right)
            sql = self.null_tests.of_comparison(node) or f"{self._beside(left, right)} {op} {self._beside(right, left)}"
            return Expression(sql, pa.bool_(), node, atomic=False)
        if op in ARITHMETIC or op in _BITWISE:
            return self._arithmetic(node)
        if op in ("and", "or"):
            parts = [self.condition(arg).argument for arg in node.args]
            return Expression(f" {op.upper()} ".join(parts), pa.bool_(), node, atomic=False)
        if op == "not":
            return Expression(f"NOT {self.condition(node.args[0]).argument}", pa.bool_(), node, atomic=False)
        if op == "call":
            return self._call(node)
        return self._special(node)

    def condition(self, node: Node) -> Expression:
        """Return the typed expression of a node. Raise PredicateError if its type is known and is neither boolean nor
        NULL.
        """
        expression = self.of(node)
        if node.op == "||":
            kind = types.name(expression.type or pa.string())
            raise self.source.error_at(node, f"{kind} where a condition must stand:", WRITE_OR)
        if expression.type is not None and expression.type not in (pa.bool_(), pa.null()):
            subject = f"{types.name(expression.type)} where a condition must stand:"
            raise self.source.error_at(node, subject, "compare it with something")
        return expression

    def operator(
        self, node: Node, op: str, left: Expression, right: Expression, data_type: pa.DataType | None
    ) -> Expression:
        """Return the expression ``left op right`` with the type ``data_type`` (None if unknown)."""
        return Expression(f"{left.argument} {op} {right.argument}", data_type, node, atomic=False)

    def _arithmetic(self, node: Node) -> Expression:
        left, right = self.of(node.args[0]), self.of(node.args[1])
        made = instant_arithmetic(self, node, left, right)
        if made is not None:
            return made
        for side in (left, right):
            self._check_operand(side, node.op)
        if node.op in _BITWISE:
            result = types.widest_integer(left.type, right.type)
        else:
            result = types.arithmetic(node.op, left.type, right.type, (left.literal, right.literal))
        made = self.operator(node, node.op.upper(), left, right, result)
        if node.op in DIVISIONS:
            self._warn_of_zero(made, right)
        return made

    def _warn_of_zero(self, quotient: Expression, divisor: Expression) -> None:
        if divisor.literal is not None and divisor.literal.known and divisor.literal.value == 0:
            self.warnings[f"{self.source.written(quotient.node)} divides by zero: it is NULL for every record"] = None

    def _check_operand(self, side: Expression, operator: str) -> None:
        """Raise PredicateError for an operand that Spark's operator does not accept."""
        fits, wanted = types.may_be_number(side.type), "arithmetic needs numbers"
        if operator in _BITWISE or operator == "~":
            fits, wanted = side.type is None or side.type in types.INTEGERS or side.type == pa.null(), "use integers"
        elif operator == "div":
            fits = fits and side.type not in (pa.float32(), pa.float64(), pa.string())
            wanted = "use / , or CAST it to an integer"
        if not fits:
            raise self.source.error_at(side.node, f"{types.name(side.type)} as an operand of {operator}:", wanted)

    def check_comparable(self, node: Node, left: Expression, right: Expression) -> None:
        """Raise PredicateError if Spark does not compare the two types.

        Add a warning if the comparison looks like a mistake.
        """
        if not types.comparable(node.op, left.type, right.type):
            subject = f"{types.name(left.type)} compared with {types.name(right.type)}:"
            remedy = joined_conditions(left, right) or types.comparison_remedy(left, right)
            raise self.source.error_at(node, subject, remedy)
        warning = compared_with_null(self.source, node, left, right)
        if warning:
            self.warnings[warning] = None
        self._suspect(node, left, right)

    def _suspect(self, node: Node, left: Expression, right: Expression) -> None:
        """Add a warning if the comparison of ``left`` with ``right`` within a node looks like a mistake."""
        warning = suspicion(self.source, node, left, right)
        if warning:
            self.warnings[warning] = None

    def check_between(self, node: Node) -> list[Expression]:
        """Return the typed subject and bounds of a BETWEEN.

        Raise PredicateError if Spark does not compare their types.
        """
        subject, *bounds = parts = [self.of(arg) for arg in node.args]
        for bound in bounds:
            if not types.comparable("<", subject.type, bound.type):
                names = f"{types.name(subject.type)} BETWEEN {types.name(bound.type)}:"
                raise self.source.error_at(bound.node, names, types.comparison_remedy(subject, bound))
            self._suspect(node, subject, bound)
        return parts

    def _special(self, node: Node) -> Expression:
        op = node.op
        if op == "between":
            subject, low, high = self.check_between(node)
            if types.mixed_instants([subject.type, low.type, high.type]):
                # Spark casts for each bound separately.
                above = f"{self._beside(subject, low)} >= {self._beside(low, subject)}"
                below = f"{self._beside(subject, high)} <= {self._beside(high, subject)}"
                return Expression(f"{above} AND {below}", pa.bool_(), node, atomic=False)
            sql = f"{subject.argument} BETWEEN {low.argument} AND {high.argument}"
            return Expression(sql, pa.bool_(), node, atomic=False)
        if op == "in":
            return self._in(node)
        if op == "geometry":
            return Expression("a shape", None, node)
        if op in ("is", "is_unknown"):
            subject = self.check_is(node)
            test = self.null_tests.caught(node, node.args[0]) if node.value == "NULL" else None
            return Expression(test or f"{subject.argument} IS {node.value}", pa.bool_(), node, atomic=False)
        if op in ("like", "rlike"):
            return pattern_match(self, node)
        if op in ("cast", "try_cast"):
            return cast(self, node)
        if op in ("case", "case_of"):
            return self._case(node)
        if op in ("neg", "pos", "~"):
            return self._signed(node)
        if op == "||":
            return self._concatenation(node)
        if op == "index":
            return self._index(node)
        if op == "field":
            return self._field(node)
        if op in ("row", "struct"):
            return row(self, node)
        if op == "collate":
            return collated(self, node)
        if op == "interval":
            return Expression(node.value.sql, node.value.type, node)
        if op == "lambda":
            raise self.source.error_at(
                node, "lambda:", "it is the last argument of exists, forall, filter, transform, ..."
            )
        raise self.source.error_at(node, "not supported:", "see the list of functions and operators")

    def check_is(self, node: Node) -> Expression:
        """Return the typed subject of a test such as IS NULL, IS TRUE or IS UNKNOWN.

        Raise PredicateError if Spark cannot compare the subject of IS TRUE or IS FALSE with TRUE, or refuses IS UNKNOWN
        for the subject. Raise it also if :meth:`NullTests.check` refuses the subject.
        """
        self.null_tests.check(node.args[0])
        subject = self.of(node.args[0])
        is_condition = subject.type in (pa.bool_(), pa.null())
        if node.op == "is_unknown" and not is_condition and is_left_as_parsed(node.args[0], self._type_of):
            kind = "a value" if subject.type is None else types.name(subject.type)
            said = f"{kind} where a condition must stand:"
            raise self.source.error_at(node.args[0], said, "compare it with something, or write IS NULL")
        if node.value != "NULL" and not types.comparable("<=>", subject.type, pa.bool_()):
            return self.condition(node.args[0])
        return subject

    def _type_of(self, node: Node) -> types.Type:
        return self.of(node).type

    def _signed(self, node: Node) -> Expression:
        operand = self.of(node.args[0])
        sign = {"neg": "-", "pos": "+", "~": "~"}[node.op]
        if types.is_interval(operand.type) and node.op != "~":
            return negative(self, node, operand) if node.op == "neg" else Expression(operand.sql, operand.type, node)
        if node.op == "pos" and operand.literal is not None and types.is_number(operand.type):
            return Expression(operand.sql, operand.type, node, literal=operand.literal)
        self._check_operand(operand, sign)
        if node.op == "neg" and types.sign_may_throw(operand.type):
            remedy = "CAST it to DOUBLE or DECIMAL(34, ...) first: Spark's minus can throw"
            raise self.source.error_at(node, f"minus of {types.name(operand.type)}:", remedy)
        result = operand.type if types.is_number(operand.type) else None
        return Expression(f"{sign} {operand.argument}", result, node, atomic=False)

    def _in(self, node: Node) -> Expression:
        sides = [self.of(arg) for arg in node.args]
        # Spark finds one type for all operands: string if one operand is a string. Otherwise every two operands must be
        # comparable; the number of types is small.
        has_string = any(side.type == pa.string() for side in sides)
        first_of: dict[pa.DataType | None, Expression] = {}
        for side in sides:
            for kind, other in first_of.items():
                beside_string = has_string and pa.string() not in (kind, side.type)
                if not beside_string and not types.listable(kind, side.type):
                    remedy = types.comparison_remedy(other, side)
                    raise self.source.error_at(side.node, f"{types.name(kind)} IN {types.name(side.type)}:", remedy)
            first_of.setdefault(side.type, side)
        self.warnings.update(dict.fromkeys(suspicions_of_list(self.source, node, sides[0], sides[1:])))
        kinds = [side.type for side in sides]
        if types.mixed_instants(kinds) and None in kinds:
            raise self.source.error_at(node, "IN with instants of several types:", "CAST them to one type")
        target = types.together(kinds)
        first, *listed = (self._as_instant(side, target) for side in sides)
        sql = f"{first} IN ({', '.join(listed)})"
        return Expression(sql, pa.bool_(), node, atomic=False)

    def _concatenation(self, node: Node) -> Expression:
        sides = [self.of(arg) for arg in node.args]
        kinds = [side.type for side in sides]
        trouble = concatenation_trouble(kinds)
        if trouble is not None:
            raise self.source.error_at(node, "||:", trouble)
        if pa.bool_() in kinds:
            self.warnings[f"{self.source.written(node)}: {WRITE_OR}"] = None
        known = all(kind is not None and (kind == pa.string() or types.is_container(kind)) for kind in kinds)
        made = self.operator(node, "||", sides[0], sides[1], type_of_concatenation(kinds) if known else None)
        made.growth = self._count_joined(node, sides, sum(side.growth for side in sides if side.literal is None))
        return made

    def _count_joined(self, node: Node, parts: list[Expression], growth: float) -> float:
        """Return the factor by which a concatenation of ``parts`` may be longer than the record: at least 1.

        Raise PredicateError if the predicate concatenates so much that a long string in a record would become too long.
        """
        self._joined += sum(part.literal is None for part in parts)
        if self._joined > _MAX_JOINED:
            raise self.source.error_at(node, "joined strings", f"at most {_MAX_JOINED} in a predicate")
        return self._bounded(node, growth, growth)

    def count_grown(self, node: Node, growth: float) -> float:
        """Return the factor by which the value of ``node`` may be longer than the record: ``growth``, but at least 1.

        Raise PredicateError if the sum of the factors of the predicate so far exceeds the limit.
        """
        self._grown += growth
        return self._bounded(node, growth, self._grown)

    def _bounded(self, node: Node, growth: float, counted: float) -> float:
        if counted > _MAX_GROWTH:
            remedy = f"at most {_MAX_GROWTH:g} times longer than the record, all of a predicate together"
            raise self.source.error_at(node, "a value made longer:", remedy)
        return max(growth, 1.0)

    def _case(self, node: Node) -> Expression:
        args = list(node.args)
        text = ["CASE"]
        subject, conditions = None, []
        if node.op == "case_of":
            subject = self.of(args.pop(0))
            whens = [args[i] for i in range(0, len(args) - 1, 2)]
            if any(types.mixed_instants([subject.type, self.of(when).type]) for when in whens):
                raise self.source.error_at(node, "CASE of instants of several types:", "CAST them to one type")
            text.append(subject.argument)
        results: list[Expression] = []
        while len(args) >= 2:
            when, then = args.pop(0), args.pop(0)
            if subject is None:
                condition = self.condition(when)
                if self.source.has_null(when):
                    # As Spark does.
                    remedy = "write FALSE, or CAST(NULL AS BOOLEAN)"
                    raise self.source.error_at(when, "NULL without a type as a condition of CASE:", remedy)
            else:
                condition = self.of(when)
                if not types.comparable("=", subject.type, condition.type):
                    names = f"{types.name(subject.type)} compared with {types.name(condition.type)}:"
                    raise self.source.error_at(when, names, types.comparison_remedy(subject, condition))
                self._suspect(node, subject, condition)
            results.append(self.of(then))
            conditions.append(condition)
        if args:
            results.append(self.of(args[0]))
        kinds = [result.type for result in results]
        if not types.unifiable(kinds, "numbers and instants"):
            names = " and ".join(dict.fromkeys(types.name(kind) for kind in kinds))
            raise self.source.error_at(node, f"CASE with results {names}:", "CAST them to one type")
        if types.mixed_instants(kinds) and None in kinds:
            raise self.source.error_at(node, "CASE with instants of several types:", "CAST them to one type")
        target = types.together(kinds)
        for condition, result in zip(conditions, results, strict=False):
            text.append(f"WHEN {condition.sql} THEN {self._as_instant(result, target)}")
        if args:
            text.append(f"ELSE {self._as_instant(results[-1], target)}")
        text.append("END")
        return Expression(" ".join(text), wider(kinds), node)

    def _index(self, node: Node) -> Expression:
        container, index = self.of(node.args[0]), self.of(node.args[1])
        sql = f"{container.argument}[{index.sql}]"
        if container.type is None:
            return Expression(sql, None, node)
        if pa.types.is_map(container.type):
            # Spark casts a number to the type of the keys.
            kinds = container.type.key_type, index.type
            if not (types.searchable(*kinds) or all(map(types.is_number, kinds))):
                raise self.source.error_at(index.node, f"{types.name(index.type)} as a key:", "use the map's key type")
            return Expression(sql, container.type.item_type, node)
        if pa.types.is_list(container.type):
            if index.type is not None and not pa.types.is_integer(index.type):
                raise self.source.error_at(index.node, f"{types.name(index.type)} as an index:", "use an integer")
            return Expression(sql, container.type.value_type, node)
        raise self.source.error_at(node, f"{types.name(container.type)} with an index:", "index an array or a map")

    def _field(self, node: Node) -> Expression:
        return inside(self, self.of(node.args[0]), [node.value])

    def _call(self, node: Node) -> Expression:
        if node.value in LAMBDA_FUNCTIONS or (node.value == "array_sort" and len(node.args) == 2):
            return lambda_call(self, node)
        if node.value in SPATIAL_FUNCTIONS:
            return spatial_expression(self, node)
        if node.value in INSTANT_FUNCTIONS:
            return instant_call(self, node)
        if node.value in TRIED and len(node.args) == 2:
            made = instant_arithmetic(self, node, *map(self.of, node.args))
            if made is not None:
                return made
        elif node.value in INTERVAL_FUNCTIONS:
            made = interval_call(self, node)
            if made is not None:
                return made
        function = FUNCTIONS.get(node.value)
        if function is None:
            problem, remedy = refusal(node.value, SPATIAL_FUNCTIONS)
            end = node.start + len(node.value)
            raise self.source.error(problem, node.value, remedy, node.start, max(end, node.start + 1))
        for arg in node.args:
            if arg.op == "star":
                raise self.source.error_at(arg, "not allowed:", "name the columns")
        args = [self.of(arg) for arg in node.args]
        call = Call(node.value, args)
        trouble = function.trouble(call) or untyped_null(call)
        if trouble:
            raise self.source.error_at(node, "call of a function", trouble)
        sql = self.null_tests.of_call(node, call) or (function.sql(call) if self.catches else uncaught(function, call))
        made = Expression(sql, function.result(call), node)
        if node.value in BOUNDED and made.sql != plain(call):
            self.warnings[f"{node.value} of what a record brings is NULL beyond a bound, an evaluation error"] = None
        if function.steps is not None:
            self.pattern_work.add(node, args[0], function.steps(call))
        if function.growth in (joined, joined_by):
            made.growth = self._count_joined(node, args, function.growth(call))
        elif function.growth is not None:
            made.growth = self.count_grown(node, function.growth(call))
        if node.value in DIVISIONS:
            self._warn_of_zero(made, args[1])
        if node.value in _COMPARING:
            self._suspect(node, *args)
        return made

    def _beside(self, operand: Expression, other: Expression) -> str:
        """Return the SQL of an operand for a comparison with the operand ``other``.

        If Spark casts the operand to the type of the other operand and the cast may throw, the SQL gives NULL instead.
        """
        if not types.is_instant(operand.type):
            return operand.argument
        return self._as_instant(operand, types.common_instant([operand.type, other.type]))

    def _as_instant(self, operand: Expression, target: pa.DataType | None) -> str:
        """Return the SQL of an operand that Spark casts to a timestamp type. The SQL gives NULL if the cast would
        throw.

        ``target`` is None if there is no cast.
        """
        if target is None or not self.catches or not types.needs_guard(operand, target):
            return operand.argument
        return types.guarded(operand.sql, target)

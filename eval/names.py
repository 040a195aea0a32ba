"""The names that a call needs, and whether a text tells them.

A call can be written after a summary if every table, column, member and key in it stands there. They
are found in SQL by its tokens alone, with DuckDB's rules in small: a word that follows an operand is
an alias, one before `(` a function, one after `::` a type. Strings are names where they are paths:
after `->` and `->>`, alone in `[…]`, after `$`. What the query itself defines, a model need not know.
"""

import re

TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*)
    |(?P<string>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")*")
    |(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>->>|->|::|:=|<>|<=|>=|!=|\|\||//|=>|.)
    """,
    re.VERBOSE | re.DOTALL,
)
KEYWORDS = frozenset(
    """
    ALL AND ANTI ANY AS ASC BETWEEN BY CASE CROSS CUBE DESC DESCRIBE DISTINCT ELSE END ESCAPE EXCEPT EXCLUDE
    EXISTS FALSE FILTER FIRST FOR FROM FULL GLOB GROUP GROUPING HAVING ILIKE IN INNER INTERSECT INTERVAL IS
    ISNULL JOIN LAMBDA LAST LATERAL LEFT LIKE LIMIT MATERIALIZED NATURAL NOT NOTNULL NULL NULLS OFFSET ON OR
    ORDER ORDINALITY OUTER OVER PARTITION PIVOT QUALIFY RANGE RECURSIVE REPLACE RIGHT ROLLUP ROWS SELECT SEMI
    SETS SIMILAR SUMMARIZE TABLE THEN TO TRUE UNION UNPIVOT USING VALUES WHEN WHERE WINDOW WITH WITHIN
    """.split()
)
# What words mean after these is a definition.
DEFINERS = ("AS", "LAMBDA")
# The columns that table functions give.
GIVEN = {
    "json_each": ("key", "value"),
    "json_tree": ("key", "value", "fullkey", "path"),
    "map_entries": ("key", "value"),
    "unnest": ("unnest",),
    "range": ("range",),
}
# Their second argument is a key.
KEY_FUNCTIONS = frozenset(
    "struct_extract map_extract map_extract_value map_contains element_at json_extract json_extract_string "
    "json_value json_exists json_contains_key".split()
)
PATH_STEP = re.compile(r'\."((?:[^"\\]|\\.)*)"|\.([^.\[\]"*]+)|\[\'((?:[^\']|\'\')*)\'\]|\[[^\]]*\]|\.\.?\*?')


class Token:
    """A piece of SQL: its sort, what it says, and how deep in parentheses it stands."""

    def __init__(self, sort, text, depth):
        self.sort, self.depth = sort, depth
        self.text = text[1:-1].replace(text[0] * 2, text[0]) if sort in ("string", "quoted") else text

    def __str__(self):
        marks = {"string": "'", "quoted": '"'}.get(self.sort, "")
        return f"{marks}{self.text.replace(marks, marks * 2) if marks else self.text}{marks}"

    def is_sign(self, *signs):
        return self.sort == "sign" and self.text in signs

    def is_keyword(self, *words):
        return self.sort == "word" and self.text.upper() in (words or KEYWORDS)

    @property
    def is_name(self):
        return self.sort == "quoted" or self.sort == "word" and not self.is_keyword()

    @property
    def ends_operand(self):
        """True if an expression or a table may end here, so that a word that follows is its alias."""
        return self.is_name or self.sort in ("string", "number") or self.is_sign(")", "]", "}") or (
            self.is_keyword("END", "TRUE", "FALSE", "NULL")
        )


NOTHING = Token("sign", "", 0)


def tokens_of(query):
    found, depth = [], 0
    for match in TOKEN.finditer(query):
        if match.lastgroup == "space":
            continue
        depth -= match[0] in (")", "]", "}")
        found.append(Token(match.lastgroup, match[0], depth))
        depth += match[0] in ("(", "[", "{")
    return found


class Query:
    """The tokens of a query, and what it defines."""

    def __init__(self, query):
        self.tokens = tokens_of(query)
        # Aliases of columns and of tables, parameters; and the places where they are defined.
        self.defined, self.places = set(), set()
        # Heads of dotted names that stand for what the query makes, not for a table that there is.
        self.made = set()
        # Names that are needed although the query defines the same: those in what the alias stands for.
        self.inside = set()
        for at in range(len(self.tokens)):
            self.note_definition(at)

    def at(self, index):
        return self.tokens[index] if 0 <= index < len(self.tokens) else NOTHING

    def note_definition(self, at):
        token, before, after = self.at(at), self.at(at - 1), self.at(at + 1)
        if not token.is_name:
            return
        if after.is_sign("("):
            self.defined.update(GIVEN.get(token.text.casefold(), ()))
        is_parameter = after.is_sign("->") and not before.ends_operand and not before.is_sign(".", "[")
        is_cte = before.is_keyword("WITH", "RECURSIVE") or before.is_sign(",") and self.opens_cte(at)
        is_alias = before.is_keyword(*DEFINERS) or before.ends_operand and not self.ends_a_type(at - 1)
        if not (is_parameter and self.is_lambda(at) or is_cte or is_alias) or self.is_type(at):
            return
        self.define(at)
        if before.is_sign(")") or before.is_keyword("AS") and self.at(at - 2).is_sign(")") or is_cte:
            self.made.add(token.text.casefold())
        if after.is_sign("("):
            self.define_columns(at + 1)
        start = self.start_of_item(at)
        self.inside.update(range(start, at))

    def define(self, at):
        self.defined.add(self.at(at).text.casefold())
        self.places.add(at)

    def define_columns(self, opening):
        """`t(a, b)` names the columns of what it is an alias of."""
        at = opening + 1
        while self.at(at).is_name:
            self.define(at)
            self.made.add(self.at(at).text.casefold())
            at += 2 if self.at(at + 1).is_sign(",") else 1

    def opens_cte(self, at):
        return self.at(at + 1).is_keyword("AS") and self.at(at + 2).is_sign("(")

    def is_lambda(self, at):
        """`x -> …` inside a call, as the second argument: `->` on JSON comes after a column."""
        following = self.at(at + 2)
        return self.at(at - 1).is_sign(",", "(") and following.sort not in ("string", "number")

    def ends_a_type(self, at):
        return self.at(at).is_name and self.is_type(at) and not self.at(at - 1).is_sign("::")

    def is_type(self, at):
        """After `::`, before a text (`DATE '2020-01-01'`), or in `CAST(… AS …)`."""
        if self.at(at - 1).is_sign("::") or self.at(at + 1).sort == "string":
            return True
        return self.at(at - 1).is_keyword("AS") and self.is_cast(at)

    def is_cast(self, at):
        depth = self.at(at).depth
        while at > 0 and self.at(at).depth >= depth:
            at -= 1
        return self.at(at).is_sign("(") and self.at(at - 1).text.casefold() in ("cast", "try_cast")

    def start_of_item(self, at):
        """Where the expression begins that gets the alias at `at`."""
        depth = self.at(at).depth
        while at > 0:
            token = self.at(at - 1)
            is_start = token.is_sign(",") or token.is_keyword("SELECT", "FROM", "JOIN", "DISTINCT")
            if token.depth < depth or token.depth == depth and is_start:
                return at
            at -= 1
        return at

    def needed(self):
        """The names that are not the query's own, each once, in their order."""
        found = []
        for at, token in enumerate(self.tokens):
            if token.is_name and at not in self.places and self.is_needed(at):
                found.append(token.text)
            found += self.keys(at)
        return list(dict.fromkeys(found))

    def is_needed(self, at):
        name, before, after = self.at(at).text.casefold(), self.at(at - 1), self.at(at + 1)
        if after.is_sign("(") or after.is_sign(":=") or self.is_type(at) or before.is_keyword("INTERVAL"):
            return False
        if before.sort == "number" and self.at(at - 2).is_keyword("INTERVAL"):
            return False
        if before.is_sign("."):
            return name not in self.defined or self.at(at - 2).text.casefold() not in self.made
        return name not in self.defined or at in self.inside and self.is_own(at)

    def is_own(self, at):
        """True if the name at `at` is a column in the expression that gets the same name, as in
        `year(year) AS year`, and no alias of another place."""
        name = self.at(at).text.casefold()
        if self.at(at + 1).is_sign(".") and self.is_alias_of_a_table(name):
            return False
        places = [place for place in self.places if self.at(place).text.casefold() == name]
        return any(self.start_of_item(place) <= at < place for place in places)

    def is_alias_of_a_table(self, name):
        for place in self.places:
            start = self.start_of_item(place)
            if self.at(place).text.casefold() == name and self.at(start - 1).is_keyword("FROM", "JOIN"):
                return True
        return False

    def is_table(self, at):
        """True for a name in FROM or JOIN that is neither a function nor the query's own."""
        start = at
        while self.at(start - 1).is_sign("."):
            start -= 2
        before = self.at(start - 1)
        is_source = before.is_keyword("FROM", "JOIN") or before.is_sign(",") and self.is_in_from(start)
        is_whole = not self.at(at + 1).is_sign("(", ".")
        return is_source and is_whole and self.at(at).text.casefold() not in self.defined

    def is_in_from(self, at):
        """True if the clause around is that of FROM."""
        depth = self.at(at).depth
        while at > 0:
            at -= 1
            token = self.at(at)
            if token.depth < depth or token.depth == depth and token.is_keyword("SELECT", "WHERE", "BY", "ON"):
                return False
            if token.depth == depth and token.is_keyword("FROM", "JOIN"):
                return True
        return False

    def keys(self, at):
        """The keys that a token names: a text that is a path, or a member in quotes."""
        token, before = self.at(at), self.at(at - 1)
        text = token.text
        if token.sort == "quoted" and before.is_sign("."):
            return [text]
        if token.sort != "string":
            return []
        if text.startswith("$"):
            return path_keys(text)
        is_step = before.is_sign("->", "->>")
        is_subscript = before.is_sign("[") and self.at(at + 1).is_sign("]") and self.at(at - 2).ends_operand
        return [text] if is_step or is_subscript or self.is_key_argument(at) else []

    def chain_before(self, at):
        """The expression that the key at `at` is looked for in: `a.b` before `->'c'` or `['c']`."""
        end = at - 1
        start = end
        while start > 0 and self.continues_chain(start - 1, end):
            start -= 1
        return self.tokens[start:end]

    def continues_chain(self, at, end):
        token = self.at(at)
        is_step = token.is_sign(".", "->", "->>", "[", "]") or token.sort in ("string", "number")
        is_alias = token.is_name and self.at(at + 1).is_sign(".") and token.text.casefold() in self.defined
        return (is_step or token.is_name) and not is_alias and at < end

    def is_key_argument(self, at):
        """True for the last argument of a function that takes a key."""
        if not self.at(at + 1).is_sign(")") or not self.at(at - 1).is_sign(","):
            return False
        depth = self.at(at).depth
        while at > 0 and self.at(at).depth >= depth:
            at -= 1
        return self.at(at - 1).text.casefold() in KEY_FUNCTIONS


def path_keys(path):
    """`$.a."b c"[0].d` names three keys."""
    steps = PATH_STEP.findall(path, 1)
    return [key for step in steps for key in step if key]


def of_query(query):
    return Query(query).needed()


def keys_of_query(query):
    """Those of them that are keys, which a question may give: texts, and members in quotes."""
    parsed = Query(query)
    return {key for at in range(len(parsed.tokens)) for key in parsed.keys(at)}


def keyed_by(query, keys):
    """The columns in which a query looks for these keys, as expressions."""
    parsed = Query(query)
    found = []
    for at in range(len(parsed.tokens)):
        if set(parsed.keys(at)) & set(keys):
            chain = parsed.chain_before(at)
            while chain and chain[0].is_sign("."):
                chain.pop(0)
            found.append("".join(map(str, chain)))
    return [column for column in dict.fromkeys(found) if column]


def defined_in(query):
    return Query(query).defined


def of_page(arguments):
    """The names in the arguments of a call that is no query."""
    return list(dict.fromkeys([
        *arguments.get("fields", []),
        *arguments.get("filter", {}),
        *([arguments["sort"].removeprefix("-")] if "sort" in arguments else []),
    ]))


def tables_of(arguments):
    """What a call takes records from: the dataset, or the names after FROM and JOIN."""
    if "query" not in arguments:
        return [arguments["dataset_id"]] if "dataset_id" in arguments else []
    query = Query(arguments["query"])
    places = [at for at, token in enumerate(query.tokens) if token.is_name and query.is_table(at)]
    return list(dict.fromkeys(query.at(at).text for at in places))


def tells(text, name):
    """True if a name stands in a text as a word of its own, in whatever case: so does SQL take it."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None

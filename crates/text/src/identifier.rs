/// Words that cannot stand for a column without quotes: those that `duckdb_keywords()` calls
/// reserved or a function's or type's.
#[rustfmt::skip]
const RESERVED: [&str; 112] = [
    "all", "analyse", "analyze", "and", "anti", "any", "array", "as", "asc", "asof", "asymmetric",
    "at", "authorization", "binary", "both", "by", "case", "cast", "check", "collate",
    "collation", "column", "columns", "concurrently", "constraint", "create", "cross", "default",
    "deferrable", "desc", "describe", "distinct", "do", "else", "end", "except", "false", "fetch",
    "for", "foreign", "freeze", "from", "full", "generated", "glob", "grant", "group", "having",
    "ilike", "in", "initially", "inner", "intersect", "into", "is", "isnull", "join", "lambda",
    "lateral", "leading", "left", "like", "limit", "map", "natural", "not", "notnull", "null",
    "offset", "on", "only", "or", "order", "outer", "overlaps", "pivot", "pivot_longer",
    "pivot_wider", "placing", "positional", "primary", "qualify", "references", "returning",
    "right", "select", "semi", "show", "similar", "some", "struct", "summarize", "symmetric",
    "table", "tablesample", "then", "to", "trailing", "true", "try_cast", "tuple", "union",
    "unique", "unpack", "unpivot", "using", "variadic", "verbose", "when", "where", "window",
    "with",
];

/// A column's or member's name as it stands in SQL.
pub fn identifier(name: &str) -> String {
    let is_word = |(index, byte): (usize, u8)| {
        byte.is_ascii_alphabetic() || byte == b'_' || (index > 0 && byte.is_ascii_digit())
    };
    let is_plain = !name.is_empty() && name.bytes().enumerate().all(is_word) && !is_reserved(name);
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn is_reserved(name: &str) -> bool {
    let letter = |letter: u8| letter.to_ascii_lowercase();
    let by_letters = |word: &&str| word.bytes().cmp(name.bytes().map(letter));
    RESERVED.binary_search_by(by_letters).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_are_in_order() {
        assert!(RESERVED.is_sorted() && RESERVED.iter().all(|word| is_reserved(word)));
        assert!(is_reserved("GROUP") && !is_reserved("groups") && !is_reserved("grou"));
    }

    #[test]
    fn names_are_quoted_where_sql_needs_it() {
        for (name, written) in [
            ("total", "total"),
            ("Group", "\"Group\""),
            ("end", "\"end\""),
            ("unit price", "\"unit price\""),
            ("2nd", "\"2nd\""),
            ("a\"b", "\"a\"\"b\""),
            ("", "\"\""),
        ] {
            assert_eq!(identifier(name), written);
        }
    }
}

//! The lists of statements, and how they are read.

/// What a query must not be able to do.
pub(crate) const HOSTILE: &str = include_str!("hostile.sql");
/// What a query must be able to do.
pub(crate) const HARMLESS: &str = include_str!("harmless.sql");
/// The records that the statements are about.
pub(crate) const RECORDS: &str = include_str!("records.json");

/// A statement, and what is expected of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    /// The word before the colon.
    pub(crate) kind: &'static str,
    /// What it tries.
    pub(crate) what: &'static str,
    pub(crate) sql: String,
}

/// The cases of a list, in which `{folder}` stands for a directory.
pub(crate) fn cases(list: &'static str, folder: &str) -> Vec<Case> {
    const MARK: &str = "--- ";
    let (_, list) = list.split_once(&format!("\n{MARK}")).unwrap();
    let case = |text: &'static str| {
        let (title, sql) = text.split_once('\n').unwrap();
        let (kind, what) = title.split_once(": ").unwrap();
        let sql = sql.strip_suffix('\n').unwrap_or(sql);
        Case { kind, what, sql: repeated(sql).replace("{folder}", folder) }
    };
    list.split(&format!("\n{MARK}")).map(case).collect()
}

/// The text with `{3 * x}` written out as `xxx`.
fn repeated(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let repetition = after.split_once('}').and_then(|(inner, after)| {
            let (count, what) = inner.split_once(" * ")?;
            Some((what.repeat(count.parse().ok()?), after))
        });
        let (written_out, after) = repetition.unwrap_or_else(|| ("{".to_owned(), after));
        out.push_str(&written_out);
        rest = after;
    }
    out + rest
}

//! The lists of hostile and of harmless statements, and what may be said of any text at all.

#[path = "../../../forebay/tests/it/guard/cases.rs"]
mod cases;
mod place;

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use proptest::prelude::*;

use super::{Form, TableName, check, tree::SYSTEM_VIEWS};
use cases::{Case, HARMLESS, HOSTILE, cases};
use place::{CANARY, Place};

/// How long a statement may run here, and how much longer it may take to heed that.
const TIME: Duration = Duration::from_millis(200);
const GRACE: Duration = Duration::from_secs(2);

fn hostile(place: &Place, kind: &str) -> Vec<Case> {
    let all = cases(HOSTILE, place.folder());
    let cases: Vec<Case> = all.into_iter().filter(|case| case.kind == kind).collect();
    assert!(!cases.is_empty());
    cases
}

#[test]
fn a_select_is_approved_with_its_tables() {
    let place = Place::new();
    let sql = "SELECT created_at FROM t JOIN s.u USING (id) ; -- all";
    let approved = check(&place.parser, sql).unwrap();
    let table = |schema: Option<&str>, name: &str| TableName {
        schema: schema.map(str::to_owned),
        name: name.to_owned(),
    };
    let tables = vec![table(None, "t"), table(Some("s"), "u")];
    let sql = "SELECT created_at FROM t JOIN s.u USING (id) ".to_owned();
    assert_eq!((approved.form, approved.sql, approved.tables), (Form::Select, sql, tables));
}

#[test]
fn a_pivot_without_values_is_approved_with_its_tables_alone() {
    let place = Place::new();
    let sql = "WITH a AS (FROM t) PIVOT (FROM a JOIN s.u USING (id)) ON x, y USING max((FROM v))";
    let approved = check(&place.parser, sql).unwrap();
    let mut names: Vec<String> = approved.tables.iter().map(ToString::to_string).collect();
    names.sort();
    assert_eq!((approved.form, names.join(" ").as_str()), (Form::Pivot, "s.u t v"));
}

#[test]
fn a_tool_may_be_called_as_a_system_view_or_a_file_begins_or_ends() {
    let place = Place::new();
    for sql in ["FROM sqlite_query", "FROM duckdb_query", "FROM pg_stats", "FROM convert.csv"] {
        check(&place.parser, sql).unwrap();
    }
}

#[test]
fn the_system_views_are_those_that_there_are() {
    let place = Place::new();
    let sql = "SELECT DISTINCT view_name FROM duckdb_views() \
               WHERE internal AND schema_name <> 'information_schema' ORDER BY ALL";
    let mut statement = place.parser.prepare(sql).unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(names.collect::<Result<Vec<_>, _>>().unwrap(), SYSTEM_VIEWS);
}

/// Looks at each case, and panics with all that is wrong.
fn check_all(cases: Vec<Case>, wrong_with: impl Fn(&str) -> Option<String>) {
    let wrong: Vec<String> = cases
        .into_iter()
        .filter_map(|case| Some(format!("{}: {}: {}", case.what, case.sql, wrong_with(&case.sql)?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_hostile_are_refused() {
    let place = Place::new();
    check_all(hostile(&place, "refused"), |sql| match check(&place.parser, sql) {
        Ok(approved) => Some(format!("{approved:?}")),
        Err(_) => None,
    });
}

#[test]
fn what_the_hostile_look_for_is_not_there() {
    let place = Place::new();
    check_all(hostile(&place, "unreachable"), |sql| match check(&place.parser, sql) {
        Err(refusal) => Some(refusal.to_string()),
        Ok(approved) => match place.run(&approved, TIME) {
            Ok(rows) => Some(rows.join("\n")),
            Err(error) => error.contains(CANARY).then_some(error),
        },
    });
    place.assert_untouched();
}

#[test]
fn the_greedy_end_by_the_limits() {
    let place = Place::new();
    check_all(hostile(&place, "bounded"), |sql| match check(&place.parser, sql) {
        Err(refusal) => Some(refusal.to_string()),
        Ok(approved) => {
            let start = Instant::now();
            // Some are quicker than the limit, and give what was asked for.
            let _ = place.run(&approved, TIME);
            let time = start.elapsed();
            (time > TIME + GRACE).then(|| format!("{time:?}"))
        }
    });
    place.assert_untouched();
}

/// That they end is for a worker to show: they would end these tests, too.
#[test]
fn the_insatiable_are_approved() {
    let place = Place::new();
    check_all(hostile(&place, "ended"), |sql| match check(&place.parser, sql) {
        Err(refusal) => Some(refusal.to_string()),
        Ok(_) => None,
    });
}

/// Should the guard ever err, the engine alone reaches its tables and its spill directory, no more.
#[test]
fn without_the_guard_the_engine_reaches_nothing_else() {
    let place = Place::new();
    let mut cases = hostile(&place, "refused");
    cases.retain(|case| case.sql.contains(place.folder()));
    // DuckDB ends the process when it cannot write its log.
    let excepted = ["rows.parquet", "/spill/", "enable_logging"];
    cases.retain(|case| !excepted.iter().any(|it| case.sql.contains(it)));
    check_all(cases, |sql| {
        let said = place.run_unchecked(sql, TIME);
        said.contains(CANARY).then_some(said)
    });
    place.assert_untouched();
}

#[test]
fn without_the_guard_the_engine_cannot_be_told_otherwise() {
    let place = Place::new();
    for statement in [
        "SET enable_external_access = true",
        "SET allowed_paths = ['/']",
        "SET allowed_directories = ['/']",
        "SET lock_configuration = false",
        "SET memory_limit = '100GB'",
        "RESET memory_limit",
        "SET max_temp_directory_size = '100GB'",
        "SET temp_directory = '/tmp'",
        "SET autoload_known_extensions = true",
        "PRAGMA threads = 100",
        "LOAD httpfs",
        "INSTALL httpfs",
    ] {
        let said = place.run_unchecked(statement, TIME);
        assert!(said.contains("locked") || said.contains("disabled"), "{statement}: {said}");
    }
}

#[test]
fn the_harmless_run() {
    let place = Place::new();
    check_all(cases(HARMLESS, place.folder()), |sql| match check(&place.parser, sql) {
        Err(refusal) => Some(refusal.to_string()),
        // They are quick; the limit is for a machine that is not.
        Ok(approved) => place.run(&approved, Duration::from_secs(20)).err(),
    });
    place.assert_untouched();
}

/// What both lists hold that can be run in this process, to be taken apart.
fn pieces(place: &Place) -> Vec<String> {
    let mut cases = hostile(place, "refused");
    cases.extend(cases::cases(HARMLESS, place.folder()));
    cases.into_iter().map(|case| case.sql).filter(|sql| sql.len() < 1_000).collect()
}

/// The front of one text and the back of another, cut where words or signs begin.
fn spliced(front: &str, front_cut: usize, back: &str, back_cut: usize) -> String {
    let cut = |text: &str, at: usize| {
        let tokens = super::tokens::of(text);
        tokens.get(at % (tokens.len() + 1)).map_or(text.len(), |token| token.start)
    };
    format!("{} {}", &front[..cut(front, front_cut)], &back[cut(back, back_cut)..])
}

static SHARED: LazyLock<(Mutex<Place>, Vec<String>)> = LazyLock::new(|| {
    let place = Place::new();
    let pieces = pieces(&place);
    (Mutex::new(place), pieces)
});

/// Whatever the guard makes of a text, it says so, and what it approves finds no canary.
fn finds_nothing(sql: &str) {
    let place = SHARED.0.lock();
    let said = match check(&place.parser, sql) {
        Err(refusal) => refusal.to_string(),
        Ok(approved) => match place.run(&approved, TIME) {
            Ok(rows) => rows.join("\n"),
            Err(error) => error,
        },
    };
    assert!(!said.contains(CANARY), "{sql} gives {said}");
    place.assert_untouched();
}

proptest! {
    #[test]
    fn any_text_is_approved_or_refused(sql in any::<String>()) {
        finds_nothing(&sql);
    }

    #[test]
    fn any_words_are_approved_or_refused(
        words in prop::collection::vec(any::<prop::sample::Index>(), 1..30),
    ) {
        let words: Vec<&str> = words
            .iter()
            .map(|index| *index.get(&[
                "SELECT", "FROM", "PIVOT", "ON", "IN", "USING", "EXPLAIN", "ANALYZE", "WITH", "AS",
                "(", ")", ",", ";", "*", "->", "'", "\"", "$$", "$a$", "--", "/*", "*/", "\n", "\\",
                "E'", "dataset", "status", "1", "x", "COPY", "TO", "read_text", "é",
            ]))
            .collect();
        finds_nothing(&words.join(" "));
        finds_nothing(&words.concat());
    }

    #[test]
    fn no_mixture_of_statements_finds_what_it_must_not(
        front in any::<prop::sample::Index>(),
        front_cut in 0..100_usize,
        back in any::<prop::sample::Index>(),
        back_cut in 0..100_usize,
    ) {
        let pieces = &SHARED.1;
        let (front, back): (&String, &String) = (front.get(pieces), back.get(pieces));
        finds_nothing(&spliced(front, front_cut, back, back_cut));
    }
}

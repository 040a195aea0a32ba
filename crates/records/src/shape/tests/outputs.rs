//! What programs print, read as records: the files in `shape/outputs`, which `record` there makes.

use std::{fmt::Write as _, fs, io::Write as _, path::Path};

use forebay_store::{Durability, Store};

use super::super::*;
use crate::table::Raw;

/// What is found in some files: each record, and what stands around them.
fn read(files: &[&str]) -> String {
    let mut out = String::new();
    for file in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/shape/outputs").join(file);
        let text = fs::read(path).unwrap();
        let _ = writeln!(out, "== {file}\n{}", told(&text));
    }
    out
}

/// What is found in a text.
pub(super) fn told(text: &[u8]) -> String {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path(), Durability::RightAfter).unwrap();
    let mut capture = store.capture().unwrap();
    capture.start_part("txt").unwrap().write_all(text).unwrap();
    let payload = capture.map_last_part().unwrap();
    let views = [of, not_json, super::super::text];
    let (view, contents) = views
        .iter()
        .find_map(|view| {
            let view = view(&payload);
            let contents = view.contents(super::RULES)?;
            Some((view, contents))
        })
        .unwrap();
    let mut out = view.format.name().to_owned();
    for table in &contents.tables {
        let fields = table.fields.iter();
        let fields: Vec<_> = fields.map(|f| format!("{} {}", f.name, f.kind.name())).collect();
        let _ =
            write!(out, "\n{}: {} records, {} skipped", table.path, table.records, table.skipped);
        let _ = write!(out, " ({})", fields.join(", "));
        let rows = view.rows(&table.path, Written::default()).unwrap().0;
        assert_eq!(rows.len() as u64, table.records);
        for row in rows {
            let _ = write!(out, "\n  {row}");
        }
    }
    for (name, value) in &contents.envelope {
        let _ = write!(out, "\n{name} = {value}");
    }
    let untold = contents.counts.envelope - contents.envelope.len();
    if untold > 0 {
        let _ = write!(out, "\nand {untold} more");
    }
    out
}

/// Records as they are handed on.
#[derive(Default)]
struct Written(Vec<String>);

impl Records<'_> for Written {
    fn record(&mut self, _: &[u8]) -> bool {
        self.0.push(String::new());
        true
    }

    fn field(&mut self, _: usize, name: &[u8], value: Raw<'_>) {
        let value = match value {
            Raw::Cell(b"") => return,
            Raw::Json(json) => String::from_utf8_lossy(json).into_owned(),
            Raw::Text(text) | Raw::Cell(text) => format!("{:?}", String::from_utf8_lossy(text)),
        };
        if value != "null" {
            let row = self.0.last_mut().unwrap();
            let _ = write!(row, "{}={value} ", String::from_utf8_lossy(name));
        }
    }

    fn members(&mut self, _: usize, json: &[u8]) {
        let row = self.0.last_mut().unwrap();
        row.push_str(&String::from_utf8_lossy(json));
    }

    fn skip(&mut self) {}

    fn is_mostly_skipped(&self) -> bool {
        false
    }
}

#[test]
fn psql() {
    insta::assert_snapshot!(read(&[
        "psql-aligned.txt",
        "psql-border-0.txt",
        "psql-border-2.txt",
        "psql-unicode.txt",
        "psql-unicode-border-2.txt",
        "psql-wrapped.txt",
        "psql-old-ascii.txt",
        "psql-expanded.txt",
        "psql-expanded-border-2.txt",
        "psql-expanded-unicode.txt",
        "psql-one-column.txt",
        "psql-empty.txt",
        "psql-describe.txt",
        "psql-script.txt",
    ]));
}

#[test]
fn mysql() {
    insta::assert_snapshot!(read(&[
        "mysql-table.txt",
        "mysql-bare.txt",
        "mysql-no-header.txt",
        "mysql-vertical.txt",
    ]));
}

#[test]
fn sqlite() {
    insta::assert_snapshot!(read(&[
        "sqlite-box.txt",
        "sqlite-box-plain.txt",
        "sqlite-table.txt",
        "sqlite-column.txt",
        "sqlite-column-plain.txt",
        "sqlite-markdown.txt",
        "sqlite-list.txt",
        "sqlite-list-plain.txt",
    ]));
}

#[test]
fn processes() {
    insta::assert_snapshot!(read(&[
        "ps-aux.txt",
        "ps-ef.txt",
        "ps-el.txt",
        "ps-lstart.txt",
        "top.txt",
    ]));
}

#[test]
fn files() {
    insta::assert_snapshot!(read(&[
        "ls-l.txt",
        "ls-lah-iso.txt",
        "ls-full-time.txt",
        "ls-lR.txt",
        "ls-color.txt",
        "du-a.txt",
        "du-h.txt",
        "df-h.txt",
        "df-T.txt",
        "df-i.txt",
    ]));
}

#[test]
fn sockets_and_packages() {
    insta::assert_snapshot!(read(&[
        "ss-tan.txt",
        "ss-tulpn.txt",
        "netstat-an.txt",
        "netstat-tulpn.txt",
        "dpkg-l.txt",
    ]));
}

#[test]
fn containers_and_units() {
    insta::assert_snapshot!(read(&[
        "by-hand/kubectl-get-pods.txt",
        "by-hand/kubectl-get-pods-wide.txt",
        "by-hand/kubectl-get-all.txt",
        "by-hand/kubectl-get-services.txt",
        "by-hand/docker-ps.txt",
        "by-hand/docker-images.txt",
        "by-hand/docker-volume-ls.txt",
        "by-hand/systemctl-list-units.txt",
        "by-hand/duckdb.txt",
        "by-hand/pip-list.txt",
    ]));
}

#[test]
fn web_servers() {
    insta::assert_snapshot!(read(&[
        "nginx-combined.txt",
        "nginx-timed.txt",
        "nginx-error.txt",
        "apache-common.txt",
        "apache-vhost.txt",
        "apache-error.txt",
    ]));
}

#[test]
fn syslog() {
    insta::assert_snapshot!(read(&[
        "syslog-3164.txt",
        "syslog-iso.txt",
        "syslog-priority.txt",
        "syslog-5424.txt",
        "by-hand/syslog-5424.txt",
        "journal-short.txt",
        "journal-short-iso.txt",
        "journal-short-full.txt",
        "journal-short-precise.txt",
    ]));
}

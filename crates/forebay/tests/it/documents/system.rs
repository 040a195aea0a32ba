//! What only Unix knows is used in `system` and in a few files besides; the page about porting names them all.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::repository;

/// The files outside `system` that speak to the operating system themselves. One that does no more has to go
/// from here, too.
const ELSEWHERE: [&str; 6] = [
    // The async runtime has its own pipes and signals.
    "proxy/client/http/serve.rs",
    "proxy/upstream/beside.rs",
    "proxy/upstream/beside/lines.rs",
    "proxy/upstream/launcher.rs",
    // The kernel's filter of system calls, which only Linux has.
    "query/confine/filter.rs",
    "worker/filter.rs",
];

/// What only Unix has, as it is written in code.
const UNIX: [&str; 6] = ["unix::", "fd::", "rustix::", "libc::", "signal_hook::", "/proc/"];

#[test]
fn what_only_unix_knows_is_used_in_one_crate_and_in_files_that_are_named() {
    let mut found = Vec::new();
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "system" || name == "testkit" {
            continue;
        }
        let source = folder.join("src");
        for file in files(&source) {
            if is_of_unix(&fs::read_to_string(&file).unwrap()) {
                let within = file.strip_prefix(&source).unwrap();
                found.push(format!("{name}/{}", within.display()));
            }
        }
    }
    found.sort();
    assert_eq!(found, ELSEWHERE, "put it behind a function of `system`");
}

#[test]
fn the_page_about_porting_names_every_file_that_speaks_to_the_system() {
    let page = fs::read_to_string(repository().join("docs/porting.md")).unwrap();
    let source = repository().join("crates/system/src");
    let ours = files(&source).into_iter().map(|file| {
        let within = file.strip_prefix(&source).unwrap();
        format!("system/{}", within.display())
    });
    let ours: BTreeSet<String> = ours.filter(|file| file != "system/lib.rs").collect();
    assert!(ours.len() > 10, "{ours:?}");
    let elsewhere = ELSEWHERE.map(str::to_owned);
    let missing: Vec<&String> =
        ours.iter().chain(&elsewhere).filter(|file| !page.contains(&format!("`{file}`"))).collect();
    assert!(missing.is_empty(), "docs/porting.md does not name {missing:?}");
    // And none that is not there.
    let named = page.split('`').filter(|it| it.starts_with("system/"));
    let gone: Vec<&str> = named.filter(|file| !ours.contains(*file)).collect();
    assert!(gone.is_empty(), "docs/porting.md names {gone:?}");
}

#[test]
fn unix_is_found_in_every_way_to_write_it() {
    for text in [
        "use std::os::unix::fs::MetadataExt;",
        "use std::{\n    os::{\n        fd::AsFd,\n    },\n};",
        "use std::{os::{fs, unix::process::CommandExt}};",
        "let it = libc::O_NONBLOCK;",
        "use tokio::signal::unix::signal;",
        "fs::read(\"/proc/self/stat\")",
    ] {
        assert!(is_of_unix(text), "{text}");
    }
    for text in [
        "use std::fs;",
        "// use std::os::unix::fs::MetadataExt;",
        "use forebay_system::private;",
        "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use std::os::unix::fs::symlink;\n}",
    ] {
        assert!(!is_of_unix(text), "{text}");
    }
}

/// True if the code in a file uses what only Unix has. Comments and tests are left out.
fn is_of_unix(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).peekable();
    let mut code = String::new();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.starts_with("mod tests"))
        {
            break;
        }
        if !line.starts_with("//") {
            code.push_str(line);
            code.push('\n');
        }
    }
    let begins_a_word =
        |at: usize| !code[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_');
    UNIX.iter().any(|word| code.match_indices(word).any(|(at, _)| begins_a_word(at)))
}

/// All files with code in a folder, but for tests.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name == "tests" {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
    found
}

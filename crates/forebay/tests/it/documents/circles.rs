//! Modules that know each other: of two modules side by side, at most one may use the other, however
//! far around.
//!
//! What is looked at are the paths in a file: `use` with all that it names, and `crate::…` or
//! `super::…` within the code. A name that a module merely hands on counts as a use of the module that
//! has it. A module and those inside it are one here, and tests are left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::repository;

/// Circles that are there: the crate, the module that they are in, and who is part of it. One that is
/// gone has to go from here, too.
const KNOWN: [(&str, &str, &[&str]); 4] = [
    // An error names the kind of chart that it is about, and the name of a kind may be an error.
    ("chart", "", &["chart", "error"]),
    // What lies in a field are objects, whose members are fields.
    ("records", "table", &["collector", "fields", "inside"]),
    // Each file has a part of what a `Store` can do.
    (
        "store",
        "",
        &[
            "capture",
            "catalog",
            "claim",
            "compression",
            "database",
            "dataset",
            "entering",
            "events",
            "growth",
            "integrity",
            "layout",
            "mapped",
            "reconcile",
            "retention",
            "store",
            "united",
            "verify",
        ],
    ),
    ("wire", "", &["valid", "walk"]),
];

/// A module, by the names on the way to it; the crate itself has none.
type Module = Vec<String>;
/// Which modules others use, of those that are side by side.
type Uses = BTreeMap<Module, BTreeSet<Module>>;

#[test]
fn no_two_modules_know_each_other_but_those_that_are_named_here() {
    let mut found = Vec::new();
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let directory = entry.unwrap().path();
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        let source = Source::read(&directory.join("src"));
        found.extend(circles(&source.uses()).into_iter().map(|circle| {
            let parent = circle[0][..circle[0].len() - 1].join("::");
            let members = circle.iter().map(|module| module.last().unwrap().clone());
            (name.clone(), parent, members.collect::<Vec<_>>())
        }));
    }
    found.sort();
    let known = KNOWN.map(|(name, parent, members)| {
        let members = members.iter().map(ToString::to_string).collect::<Vec<_>>();
        (name.to_owned(), parent.to_owned(), members)
    });
    assert_eq!(found, known);
}

#[test]
fn a_circle_is_found_in_every_way_to_name_a_module() {
    let source = |files: &[(&str, &str)]| {
        let module = |path: &str| -> Module {
            path.split("::").filter(|it| !it.is_empty()).map(str::to_owned).collect()
        };
        let files = files.iter().map(|(path, text)| (module(path), code(text)));
        Source { files: files.collect() }
    };
    let found = |files: &[(&str, &str)]| -> Vec<Vec<String>> {
        let circles = circles(&source(files).uses());
        circles
            .iter()
            .map(|circle| circle.iter().map(|module| module.join("::")).collect())
            .collect()
    };
    let both = [["a", "b"].map(str::to_owned).to_vec()];
    assert_eq!(found(&[("", ""), ("a", "use crate::b::X;"), ("b", "use crate::a;")]), both);
    let tree = "pub(crate) use crate::{\n    c::{self, Y},\n    b::{X as Z, W},\n};";
    let within = "fn f() -> u8 { super::a::g() }";
    assert_eq!(found(&[("", ""), ("a", tree), ("b", within), ("c", "")]), both);
    let handed_on = ("", "mod a;\nmod b;\npub use b::X;");
    assert_eq!(found(&[handed_on, ("a", "use crate::X;"), ("b", "use super::a::Y;")]), both);
    let deeper = [
        ("", ""),
        ("a", ""),
        ("a::x", "use crate::b::X;"),
        ("b", ""),
        ("b::y", "use crate::a::Y;"),
    ];
    assert_eq!(found(&deeper), both);
    let siblings =
        [("", ""), ("m", "mod a; mod b;"), ("m::a", "use super::b;"), ("m::b", "use super::a;")];
    assert_eq!(found(&siblings), [["m::a", "m::b"].map(str::to_owned).to_vec()]);
    let around = [("", ""), ("a", "use crate::b;"), ("b", "use crate::c;"), ("c", "use crate::a;")];
    assert_eq!(found(&around)[0].len(), 3);
    assert!(found(&[("", ""), ("a", "use crate::b;"), ("b", "// use crate::a;")]).is_empty());
    assert!(
        found(&[("", ""), ("a", "mod x; use self::x::X;"), ("a::x", "use super::Y;")]).is_empty()
    );
}

/// The files of a crate, without comments and tests.
struct Source {
    files: BTreeMap<Module, String>,
}

impl Source {
    fn read(folder: &Path) -> Self {
        let mut source = Self { files: BTreeMap::new() };
        source.add(folder, &[]);
        source
    }

    fn add(&mut self, folder: &Path, parent: &[String]) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let module = [parent, std::slice::from_ref(&name)].concat();
            if path.is_dir() && name != "bin" && name != "tests" {
                self.add(&path, &module);
            } else if path.extension().is_some_and(|it| it == "rs") && name != "tests" {
                let is_root = parent.is_empty() && (name == "lib" || name == "main");
                let module = if is_root { Module::new() } else { module };
                self.files.insert(module, code(&fs::read_to_string(&path).unwrap()));
            }
        }
    }

    /// Which modules side by side use each other.
    fn uses(&self) -> Uses {
        let mut found = Uses::new();
        for (module, text) in &self.files {
            for path in imported(text).into_iter().chain(mentioned(text)) {
                let Some(other) = self.module_of(module, &path, 0) else { continue };
                let shared = module.iter().zip(&other).take_while(|(one, two)| one == two).count();
                if shared < module.len() && shared < other.len() {
                    let (from, to) = (module[..=shared].to_vec(), other[..=shared].to_vec());
                    found.entry(from).or_default().insert(to);
                }
            }
        }
        found
    }

    /// The module of this crate that has what `path` names in `module`.
    fn module_of(&self, module: &[String], path: &[String], followed: usize) -> Option<Module> {
        /// Names are not handed on more often than this.
        const MAX_FOLLOWED: usize = 8;
        let mut at = module.to_vec();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (at, rest) = (Module::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|step| step == "super") {
                    at.pop();
                    rest = &rest[1..];
                }
            }
            // It is another crate's, or that of a module inside.
            first if !self.files.contains_key(&[&at[..], &[first.to_owned()]].concat()) => {
                return None;
            }
            _ => {}
        }
        while let Some(step) = rest.first() {
            let inner = [&at[..], std::slice::from_ref(step)].concat();
            if !self.files.contains_key(&inner) {
                break;
            }
            (at, rest) = (inner, &rest[1..]);
        }
        let handed_on = rest.first().filter(|_| followed < MAX_FOLLOWED).and_then(|name| {
            let mut imported = imported(self.files.get(&at)?).into_iter();
            imported.find(|path| path.last() == Some(name))
        });
        let behind = handed_on.and_then(|path| self.module_of(&at, &path, followed + 1));
        Some(behind.unwrap_or(at))
    }
}

/// The text of a file without its comments and its tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The paths that `use` brings in.
fn imported(text: &str) -> Vec<Vec<String>> {
    let is_of_tree = |character: char| {
        character.is_alphanumeric() || character.is_whitespace() || "_:{},*".contains(character)
    };
    let trees = text.split(';').filter_map(|statement| {
        let (before, tree) = statement.rsplit_once("use ")?;
        let begins = before.chars().last().is_none_or(char::is_whitespace);
        (begins && tree.chars().all(is_of_tree)).then_some(tree)
    });
    trees.flat_map(|tree| branches(tree.trim())).collect()
}

/// The paths in a tree such as `a::{b, c::{self, D as E}}`.
fn branches(tree: &str) -> Vec<Vec<String>> {
    let Some((stem, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap();
        let steps = path.split("::").map(|step| step.trim().to_owned());
        let mut steps: Vec<String> = steps.filter(|step| !step.is_empty()).collect();
        if steps.len() > 1 && steps.last().is_some_and(|step| step == "self") {
            steps.pop();
        }
        return vec![steps];
    };
    let inner = rest.trim_end().strip_suffix('}').unwrap_or(rest);
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for character in inner.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(character);
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| branches(&format!("{stem}{}", part.trim()))).collect()
}

/// The paths within the code that begin with `crate` or `super`.
fn mentioned(text: &str) -> Vec<Vec<String>> {
    let is_of_path = |character: char| character.is_alphanumeric() || "_:".contains(character);
    let paths = text.split(|character| !is_of_path(character));
    paths
        .filter(|path| path.starts_with("crate::") || path.starts_with("super::"))
        .map(|path| path.split("::").filter(|step| !step.is_empty()).map(str::to_owned).collect())
        .collect()
}

/// Modules that reach each other, each circle in the order of the alphabet.
fn circles(uses: &Uses) -> Vec<Vec<Module>> {
    let reached = |from: &Module| {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&Module> = uses.get(from).into_iter().flatten().collect();
        while let Some(module) = next.pop() {
            if reached.insert(module.clone()) {
                next.extend(uses.get(module).into_iter().flatten());
            }
        }
        reached
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        uses.keys().map(|module| (module, reached(module))).collect();
    let circles = reached.iter().filter(|(module, reached)| reached.contains(**module)).map(
        |(module, all)| {
            let back = |other: &&Module| reached.get(other).is_some_and(|it| it.contains(*module));
            all.iter().filter(back).cloned().collect::<Vec<_>>()
        },
    );
    circles.collect::<BTreeSet<_>>().into_iter().collect()
}

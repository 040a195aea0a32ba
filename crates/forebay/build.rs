//! Says what the program is built from: `version.rs` tells it.
//!
//! Nothing here depends on when or where it is built, so the same source gives the same program.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Says what it is built from where there is no repository, as in an archive of the source.
const BUILD: &str = "FOREBAY_BUILD";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={BUILD}");
    let given = env::var(BUILD).ok().filter(|build| !build.is_empty());
    let commit = given
        .or_else(commit)
        .unwrap_or_else(|| "unknown, for it was built outside of its repository".to_owned());
    // `cargo run` hands these to the program, too: what begins with FOREBAY_ would be a setting.
    println!("cargo:rustc-env=BUILT_COMMIT={commit}");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rustc = said(Command::new(rustc).arg("--version")).unwrap_or_default();
    let rustc = rustc.strip_prefix("rustc ").unwrap_or("unknown");
    println!("cargo:rustc-env=BUILT_RUSTC={rustc}");
    for name in ["TARGET", "PROFILE"] {
        println!("cargo:rustc-env=BUILT_{name}={}", env::var(name).unwrap_or_default());
    }
}

/// The commit that is checked out, with its day. `None` if the source lies in no repository of its own.
fn commit() -> Option<String> {
    let root = Path::new("../..").canonicalize().ok()?;
    let git = |arguments: &[&str]| said(Command::new("git").arg("-C").arg(&root).args(arguments));
    let top = PathBuf::from(git(&["rev-parse", "--show-toplevel"])?);
    // It may lie in the repository of something else.
    if top.canonicalize().ok()? != root {
        return None;
    }
    // These change with the commit, and nothing else does. One that is not there would be taken for changed.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    let names = ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref());
    for path in names.filter_map(|name| git(&["rev-parse", "--git-path", name])) {
        let path = root.join(path);
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    git(&["show", "--no-patch", "--abbrev=12", "--format=%h of %cs", "HEAD"])
}

fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

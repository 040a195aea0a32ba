//! The test programs of this crate, built when they are first needed.
//!
//! Cargo builds a package's programs for that package's own tests only, so others ask here.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// An upstream that is fast and misbehaves on request; see its own documentation.
pub fn fixture_upstream() -> PathBuf {
    built("fixture-upstream")
}

/// Passes bytes on between its own side and a command, and writes both directions to files.
pub fn tap() -> PathBuf {
    built("tap")
}

/// A reverse proxy of hyper's server and hyper's client and nothing else.
pub fn bare_proxy() -> PathBuf {
    built("bare-proxy")
}

/// The directory that cargo builds into.
pub fn target_directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        // target/<profile>/deps/<test>
        let test = std::env::current_exe().expect("a running program has a path");
        test.ancestors().nth(3).expect("tests lie in target/<profile>/deps").to_owned()
    })
}

fn built(program: &str) -> PathBuf {
    static BUILT: OnceLock<()> = OnceLock::new();
    let (profile, directory) =
        if cfg!(debug_assertions) { ("dev", "debug") } else { ("release", "release") };
    BUILT.get_or_init(|| {
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "forebay-testkit", "--bins"])
            .args(["--profile", profile])
            .arg("--target-dir")
            .arg(target_directory())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .expect("cargo starts");
        assert!(status.success(), "the test programs build");
    });
    target_directory().join(directory).join(program)
}

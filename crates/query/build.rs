//! Brings DuckDB.
//!
//! Its prebuilt library comes from the npm registry and is put into our own binary, compressed, to be
//! loaded when a query first needs it (`src/library.rs`). Where npm is missing, DuckDB is compiled
//! from the source that its crate holds, and linked. With the feature `bundled` the crate does that
//! itself, and there is nothing to do here.
//!
//! With `FOREBAY_PACKAGE` set the binary is for other machines: it has the prebuilt library or is not built at
//! all, is as small as it can be, and knows no path of this machine.

use std::{
    env,
    error::Error,
    ffi::OsStr,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use sha2::{Digest as _, Sha256};

/// A library that an npm package holds.
struct Prebuilt {
    /// The system and the processor, as Rust names them.
    platform: (&'static str, &'static str),
    package: &'static str,
    version: &'static str,
    file: &'static str,
    sha256: &'static str,
}

/// The DuckDB that the crate is made for, and compiles.
const DUCKDB: &str = "1.5.6";

/// The libraries, each of which has all functions that the crate knows. What says 1.5.5 was not published for 1.5.6
/// when these sums were taken.
const PREBUILT: [Prebuilt; 5] = [
    Prebuilt {
        platform: ("linux", "x86_64"),
        package: "@duckdb/node-bindings-linux-x64",
        version: "1.5.6-r.1",
        file: "libduckdb.so",
        sha256: "3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633",
    },
    Prebuilt {
        platform: ("linux", "aarch64"),
        package: "@duckdb/node-bindings-linux-arm64",
        version: "1.5.5-r.5",
        file: "libduckdb.so",
        sha256: "d00d007f3f7ca1f2896a5e4b89c2ce141bf0508506a9d6d56f9598b8e59d074e",
    },
    Prebuilt {
        platform: ("macos", "aarch64"),
        package: "@duckdb/node-bindings-darwin-arm64",
        version: "1.5.5-r.5",
        file: "libduckdb.dylib",
        sha256: "b9027d18ef3e8d960568f77e946a83ca68009cb22d71cf7f94de842afdd094d8",
    },
    Prebuilt {
        platform: ("macos", "x86_64"),
        package: "@duckdb/node-bindings-darwin-x64",
        version: "1.5.5-r.5",
        file: "libduckdb.dylib",
        sha256: "b9027d18ef3e8d960568f77e946a83ca68009cb22d71cf7f94de842afdd094d8",
    },
    Prebuilt {
        platform: ("windows", "x86_64"),
        package: "@duckdb/node-bindings-win32-x64",
        version: "1.5.5-r.5",
        file: "duckdb.dll",
        sha256: "2b7468a4ad844429e6af2fde0b5f91893e8130a5686a88f11442ab547c7ede46",
    },
];

/// How hard zstd tries. The first takes half a second; the second a minute, for 4 MB less.
const FAST: i32 = 3;
const SMALL: i32 = 19;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!("cargo:rustc-check-cfg=cfg(duckdb_loaded, fuzzing)");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=FOREBAY_PACKAGE");
    if env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        tell_version(DUCKDB);
        return Ok(());
    }
    match fetch() {
        Ok((library, version)) => {
            // What stands behind it is the release of the npm package.
            tell_version(version.split_once('-').map_or(version, |(duckdb, _)| duckdb));
            load_later(&library)
        }
        Err(why) if is_package() => Err(why),
        Err(why) => {
            println!(
                "cargo:warning=DuckDB could not be fetched with npm ({why}). It is compiled from \
                 source, which takes about an hour."
            );
            tell_version(DUCKDB);
            compile()
        }
    }
}

/// The version that the program says of its DuckDB.
fn tell_version(duckdb: &str) {
    println!("cargo:rustc-env=FOREBAY_DUCKDB_VERSION={duckdb}");
}

/// True if the binary is for other machines.
fn is_package() -> bool {
    env::var_os("FOREBAY_PACKAGE").is_some()
}

/// Installs the package that holds the library for the target, and says where it is, and the package's version.
fn fetch() -> Outcome<(PathBuf, &'static str)> {
    let system = env::var("CARGO_CFG_TARGET_OS")?;
    let processor = env::var("CARGO_CFG_TARGET_ARCH")?;
    if env::var("CARGO_CFG_TARGET_ENV")? == "musl" {
        return Err("a program that is linked with musl loads no libraries".into());
    }
    let wanted = PREBUILT.iter().find(|one| one.platform == (&*system, &*processor));
    let Prebuilt { package, version, file, sha256, .. } =
        wanted.ok_or_else(|| format!("there is none for {system} on {processor}"))?;
    let folder = shared_folder()?.join(format!("duckdb-{version}"));
    let library = folder.join("node_modules").join(package).join(file);
    let is_right = || sha256_of(&library).is_ok_and(|found| found == *sha256);
    if is_right() {
        return Ok((library, version));
    }
    // What an interrupted build has left, npm would take for the whole.
    let _ = fs::remove_dir_all(folder.join("node_modules").join(package));
    fs::create_dir_all(&folder)?;
    let flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--force"];
    run(Command::new("npm")
        .arg("install")
        .args(flags)
        .arg("--prefix")
        .arg(&folder)
        .arg(format!("{package}@{version}")))?;
    if is_right() {
        return Ok((library, version));
    }
    Err(format!("{package}@{version} does not hold the library with the SHA-256 {sha256}").into())
}

fn sha256_of(file: &Path) -> Outcome<String> {
    let mut sum = String::new();
    for byte in Sha256::digest(fs::read(file)?) {
        write!(sum, "{byte:02x}")?;
    }
    Ok(sum)
}

/// Writes what `src/library.rs` is made of: the library, compressed, and a function for each of its
/// own, which goes on to where that has been loaded to.
fn load_later(library: &Path) -> Outcome<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let bytes = fs::read(library)?;
    let mark = mark()?;
    let names = functions(&bytes, mark);
    fs::write(out.join("functions.s"), assembly(&names, mark)?)?;
    fs::write(out.join("functions.rs"), format!("{names:?}"))?;
    let level = if is_package() { SMALL } else { FAST };
    fs::write(out.join("libduckdb.so.zst"), zstd::encode_all(bytes.as_slice(), level)?)?;
    // The crate asks to be linked with DuckDB. In this repository `.cargo/config.toml` says with what; where
    // only this package is, this does.
    fs::write(out.join("libduckdb.a"), "!<arch>\n")?;
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-cfg=duckdb_loaded");
    let from_build = if is_package() { Path::new("") } else { library };
    println!("cargo:rustc-env=FOREBAY_DUCKDB={}", from_build.display());
    println!("cargo:rustc-env=FOREBAY_DUCKDB_BYTES={}", bytes.len());
    Ok(())
}

/// What stands before a C name in the target's object files: an underscore in Apple's.
fn mark() -> Outcome<&'static str> {
    Ok(if env::var("CARGO_CFG_TARGET_OS")? == "macos" { "_" } else { "" })
}

/// A jump for each function, by the address that `src/library.rs` will put down for it.
fn assembly(names: &[&str], mark: &str) -> Outcome<String> {
    let system = env::var("CARGO_CFG_TARGET_OS")?;
    let processor = env::var("CARGO_CFG_TARGET_ARCH")?;
    let is_apple = system == "macos";
    let at = format!("{mark}forebay_duckdb");
    let mut assembly = String::from(".text\n");
    for (index, name) in names.iter().enumerate() {
        let offset = index * 8;
        if system == "linux" {
            writeln!(assembly, ".type {name}, @function")?;
        }
        write!(assembly, ".globl {mark}{name}\n{mark}{name}:\n")?;
        match processor.as_str() {
            "x86_64" => writeln!(assembly, "jmp qword ptr [rip + {at} + {offset}]")?,
            _ if is_apple => write!(
                assembly,
                "adrp x16, {at}@PAGE + {offset}\nldr x16, [x16, {at}@PAGEOFF + {offset}]\nbr x16\n"
            )?,
            _ => write!(
                assembly,
                "adrp x16, {at} + {offset}\nldr x16, [x16, :lo12:{at} + {offset}]\nbr x16\n"
            )?,
        }
    }
    Ok(assembly)
}

/// The names of the functions that a library offers: its texts that are nothing else. `mark` is what its platform puts
/// before a C name.
fn functions<'a>(library: &'a [u8], mark: &str) -> Vec<&'a str> {
    let is_name = |text: &&[u8]| {
        text.starts_with(b"duckdb_")
            && text.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    let texts = library.split(|byte| *byte == 0);
    let names = texts.filter_map(|text| text.strip_prefix(mark.as_bytes())).filter(is_name);
    let mut names: Vec<&str> = names.filter_map(|name| str::from_utf8(name).ok()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Compiles DuckDB in a folder that all builds share, and links it.
fn compile() -> Outcome<()> {
    let folder = shared_folder()?.join("duckdb-from-source");
    let target = folder.join("target");
    // It is not a package here: of one inside another, `cargo package` would leave out all files.
    fs::create_dir_all(folder.join("src"))?;
    fs::copy("from-source.toml", folder.join("Cargo.toml"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    run(Command::new(env::var("CARGO")?)
        .args(["build", "--release", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target))?;
    let mut archives = fs::read_dir(target.join("release/build"))?
        .filter_map(|entry| Some(entry.ok()?.path().join("out/libduckdb.a")));
    let archive = archives.find(|archive| archive.exists());
    let folder = archive.as_deref().and_then(Path::parent).ok_or("there is no libduckdb.a")?;
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib=static=duckdb");
    println!("cargo:rustc-link-lib=dylib=stdc++");
    Ok(())
}

/// A folder that debug and release builds share.
fn shared_folder() -> Outcome<PathBuf> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let profile = out.ancestors().find(|folder| folder.file_name() == Some(OsStr::new("build")));
    let target = profile.and_then(Path::parent).and_then(Path::parent);
    Ok(target.ok_or("cargo's output is in an unknown place")?.to_owned())
}

fn run(command: &mut Command) -> Outcome<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
}

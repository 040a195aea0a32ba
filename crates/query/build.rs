//! Brings DuckDB.
//!
//! Its prebuilt library comes from the npm registry and is put into our own binary, compressed, to be
//! loaded when a query first needs it (`src/library.rs`). Where npm is missing, DuckDB is compiled
//! from the source that its crate holds, and linked. With the feature `bundled` the crate does that
//! itself, and there is nothing to do here.

use std::{
    env,
    error::Error,
    ffi::OsStr,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The release of the npm package, which holds the DuckDB that the crate is made for.
const PREBUILT: &str = "1.5.6-r.1";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!("cargo:rustc-check-cfg=cfg(duckdb_loaded, fuzzing)");
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_BUNDLED").is_some() {
        return Ok(());
    }
    match fetch() {
        Ok(library) => load_later(&library),
        Err(why) => {
            println!(
                "cargo:warning=DuckDB could not be fetched with npm ({why}). It is compiled from \
                 source, which takes about an hour."
            );
            compile()
        }
    }
}

/// Installs the package that holds the library for this machine, and says where it is.
fn fetch() -> Outcome<PathBuf> {
    let system = env::var("CARGO_CFG_TARGET_OS")?;
    if system != "linux" {
        return Err(format!("the prebuilt library is used on Linux, and this is {system}").into());
    }
    let processor = match env::var("CARGO_CFG_TARGET_ARCH")?.as_str() {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => return Err(format!("there is none for {other}").into()),
    };
    let package = format!("@duckdb/node-bindings-linux-{processor}");
    let folder = shared_folder()?.join(format!("duckdb-{PREBUILT}"));
    let library = folder.join("node_modules").join(&package).join("libduckdb.so");
    if !library.exists() {
        fs::create_dir_all(&folder)?;
        let wanted = format!("{package}@{PREBUILT}");
        let flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--force"];
        run(Command::new("npm")
            .arg("install")
            .args(flags)
            .arg("--prefix")
            .arg(&folder)
            .arg(wanted))?;
    }
    if library.exists() { Ok(library) } else { Err("the package holds no library".into()) }
}

/// Writes what `src/library.rs` is made of: the library, compressed, and a function for each of its
/// own, which goes on to where that has been loaded to.
fn load_later(library: &Path) -> Outcome<()> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let bytes = fs::read(library)?;
    let names = functions(&bytes);
    let processor = env::var("CARGO_CFG_TARGET_ARCH")?;
    let mut assembly = String::from(".text\n");
    for (index, name) in names.iter().enumerate() {
        let at = index * 8;
        write!(assembly, ".globl {name}\n.type {name}, @function\n{name}:\n")?;
        match processor.as_str() {
            "x86_64" => writeln!(assembly, "jmp qword ptr [rip + forebay_duckdb + {at}]")?,
            _ => write!(
                assembly,
                "adrp x16, forebay_duckdb + {at}\nldr x16, [x16, :lo12:forebay_duckdb + {at}]\nbr x16\n"
            )?,
        }
    }
    fs::write(out.join("functions.s"), assembly)?;
    fs::write(out.join("functions.rs"), format!("{names:?}"))?;
    fs::write(out.join("libduckdb.so.zst"), zstd::encode_all(bytes.as_slice(), 3)?)?;
    println!("cargo:rustc-cfg=duckdb_loaded");
    println!("cargo:rustc-env=FOREBAY_DUCKDB={}", library.display());
    println!("cargo:rustc-env=FOREBAY_DUCKDB_BYTES={}", bytes.len());
    Ok(())
}

/// The names of the functions that a library offers: its texts that are nothing else.
fn functions(library: &[u8]) -> Vec<&str> {
    let is_name = |text: &&[u8]| {
        text.starts_with(b"duckdb_")
            && text.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    let texts = library.split(|byte| *byte == 0).filter(is_name);
    let mut names: Vec<&str> = texts.filter_map(|text| str::from_utf8(text).ok()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Compiles DuckDB in a folder that all builds share, and links it.
fn compile() -> Outcome<()> {
    let target = shared_folder()?.join("duckdb-from-source");
    run(Command::new(env::var("CARGO")?)
        .args(["build", "--release", "--manifest-path", "from-source/Cargo.toml"])
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

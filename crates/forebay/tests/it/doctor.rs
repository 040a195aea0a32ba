//! `forebay doctor`: what it finds where something is wrong, and where nothing is; the log file that it reads.

mod fronted;
mod logging;
mod shells;

use std::{
    fs::{self, Permissions},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    forebay,
    gateway::{fixture, server},
    home,
    rot::{flip, with_orders},
};

/// A home of its own for a test, which is not there yet.
fn new_home(test: &str) -> PathBuf {
    let home = home().join("doctor").join(test);
    let _ = fs::remove_dir_all(&home);
    home
}

/// `forebay doctor` for this home. It finds no clients, and makes no vectors.
fn doctor(home: &Path, arguments: &[&str]) -> Command {
    let mut command = forebay(["doctor"]);
    command.args(arguments).env("FOREBAY_HOME", home).env("FOREBAY_SEARCH_EMBEDDER", "none");
    let nobody = crate::home().join("doctor").join("nobody");
    fs::create_dir_all(&nobody).unwrap();
    command.env("HOME", &nobody).current_dir(&nobody);
    command
}

/// What is found, and what the program ends with.
struct Found {
    findings: Vec<Value>,
    code: Option<i32>,
}

fn found(command: &mut Command) -> Found {
    let output = command.arg("--json").output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let said: Value = serde_json::from_str(&told)
        .unwrap_or_else(|_| panic!("{told}{}", String::from_utf8_lossy(&output.stderr)));
    let findings = said["findings"].as_array().unwrap().clone();
    findings.iter().for_each(says_what_to_do);
    Found { findings, code: output.status.code() }
}

/// Holds of every finding: what is wrong comes with a command or with words, and a command is one.
fn says_what_to_do(finding: &Value) {
    const COMMANDS: [&str; 6] = ["forebay", "chmod", "mv", "rm", "sudo", "unset"];
    let is_wrong = finding["state"] == "problem" || finding["state"] == "warning";
    let (mend, advice) = (finding["mend"].as_str(), finding["advice"].as_str());
    assert!(!is_wrong || mend.is_some() || advice.is_some(), "{finding}");
    assert!(advice.is_none_or(|words| words.ends_with('.')), "{finding}");
    let Some(mend) = mend else { return };
    assert!(COMMANDS.contains(&mend.split(' ').next().unwrap()), "{finding}");
    let is_read = Command::new("sh").args(["-n", "-c", mend]).status().unwrap().success();
    assert!(is_read && !mend.contains(", "), "{finding}");
    if let Some(words) = mend.strip_prefix("forebay ") {
        // Whether there is such a command and such a flag; it does nothing.
        let words = format!("\"$0\" {words} --help");
        let known = Command::new("sh").args(["-c", &words, env!("CARGO_BIN_EXE_forebay")]).output();
        assert!(known.unwrap().status.success(), "{finding}");
    }
}

impl Found {
    /// The findings of an area in a state.
    fn of(&self, area: &str, state: &str) -> Vec<&Value> {
        let is_meant = |it: &&Value| it["area"] == area && it["state"] == state;
        self.findings.iter().filter(is_meant).collect()
    }

    /// The only one of those.
    fn one(&self, area: &str, state: &str) -> (&str, &str) {
        let [one] = self.of(area, state)[..] else {
            panic!("{area}, {state}: {:#?}", self.findings)
        };
        (one["text"].as_str().unwrap(), one["mend"].as_str().unwrap_or_default())
    }

    /// What the only one of those says to do, in words.
    fn advice(&self, area: &str, state: &str) -> &str {
        let [one] = self.of(area, state)[..] else {
            panic!("{area}, {state}: {:#?}", self.findings)
        };
        assert!(one["mend"].is_null(), "{one}");
        one["advice"].as_str().unwrap_or_default()
    }

    /// True if nothing is as grave as a problem.
    fn is_well(&self) -> bool {
        let has_problem = self.findings.iter().any(|it| it["state"] == "problem");
        assert_eq!(self.code, Some(i32::from(has_problem)), "{:#?}", self.findings);
        !has_problem
    }
}

#[test]
fn where_all_is_well_every_area_says_so() {
    let (home, dataset) = with_orders("doctor");
    let well = found(doctor(&home, &[]).env_remove("FOREBAY_SEARCH_EMBEDDER"));
    assert!(well.is_well(), "{:#?}", well.findings);
    for area in ["settings", "store", "engine", "servers", "limits", "log", "versions"] {
        assert!(!well.of(area, "ok").is_empty(), "{area}: {:#?}", well.findings);
    }
    let (kept, _) = well.one("store", "ok");
    assert!(kept.starts_with("1 dataset in ") && kept.ends_with("; all are whole."), "{kept}");
    assert_eq!(well.of("engine", "ok").len(), 3, "{:#?}", well.findings);
    assert_eq!(well.one("clients", "note").0, "No client's file with MCP servers was found.");
    let shown = doctor(&home, &[]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.starts_with("Settings\n  ok       There is no") && !shown.contains('\u{1b}'),
        "{shown}"
    );
    assert!(shown.ends_with("\n\nAll is well.\n"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{shown}");
    assert!(dataset.path(0).exists());
}

#[test]
fn who_asks_the_doctor_makes_nothing() {
    let nowhere = new_home("nowhere");
    let well = found(&mut doctor(&nowhere, &[]));
    assert!(well.is_well(), "{:#?}", well.findings);
    let (kept, _) = well.one("store", "ok");
    assert_eq!(kept, format!("Nothing has been kept yet in {}.", nowhere.display()));
    assert!(!nowhere.exists());
}

#[test]
fn damage_is_told_with_what_mends_it_and_that_does() {
    let (home, dataset) = with_orders("doctor_damage");
    flip(&dataset.path(0));
    let damaged = found(&mut doctor(&home, &[]));
    assert!(!damaged.is_well());
    let (text, mend) = damaged.one("store", "problem");
    assert!(text.starts_with(dataset.id().as_str()), "{text}");
    assert!(text.contains("it is not what was kept"), "{text}");
    assert_eq!(mend, "forebay datasets verify --repair");
    let mended = forebay(["datasets", "verify", "--repair"]).env("FOREBAY_HOME", &home).output();
    assert!(mended.unwrap().status.success());
    let after = found(&mut doctor(&home, &[]));
    assert!(after.is_well());
    assert!(after.one("store", "note").0.contains("were set aside in"), "{:#?}", after.findings);
}

#[test]
fn a_catalog_of_another_version_or_damaged_is_told_and_left_as_it_is() {
    /// Where a database has the number that its program gave it.
    const VERSION_AT: usize = 60;
    let (home, _) = with_orders("doctor_catalog");
    let catalog = home.join("catalog.db");
    // What lies beside it would be read in its place.
    assert!(!home.join("catalog.db-wal").exists());
    let sound = fs::read(&catalog).unwrap();
    let with_version = |version: u32| {
        let mut bytes = sound.clone();
        bytes[VERSION_AT..VERSION_AT + 4].copy_from_slice(&version.to_be_bytes());
        bytes
    };
    for (version, state, told) in
        [(99, "warning", "a newer Forebay"), (1, "note", "an older Forebay")]
    {
        fs::write(&catalog, with_version(version)).unwrap();
        let other = found(&mut doctor(&home, &[]));
        assert!(other.is_well());
        let (text, _) = other.one("store", state);
        assert!(text.contains(&format!("of version {version}")) && text.contains(told), "{text}");
        assert_eq!(fs::read(&catalog).unwrap(), with_version(version), "nobody has made it anew");
    }
    let mut torn = sound.clone();
    torn[4_096..].fill(0xAA);
    fs::write(&catalog, torn).unwrap();
    let damaged = found(&mut doctor(&home, &[]));
    assert!(!damaged.is_well());
    assert_eq!(damaged.one("store", "problem").1, "forebay datasets verify --repair");
}

#[test]
fn settings_that_cannot_be_used_are_told_one_by_one() {
    let home = new_home("settings");
    fs::create_dir_all(&home).unwrap();
    let settings = "treshold = 5\nenabeld = false\n[log]\nfile_levle = \"off\"\n";
    fs::write(home.join("forebay.toml"), settings).unwrap();
    let broken = found(doctor(&home, &[]).env("FOREBAY_NO_SUCH_THING", "1"));
    assert!(!broken.is_well());
    let (text, _) = broken.one("settings", "problem");
    assert!(
        text.contains(":2: there is no setting `enabeld`; write `enabled` (nothing starts)."),
        "{text}"
    );
    let advice = broken.advice("settings", "problem");
    assert_eq!(advice, format!("Edit {}, line 2.", home.join("forebay.toml").display()));
    let passed_over = broken.of("settings", "warning");
    assert_eq!(passed_over.len(), 3, "{passed_over:#?}");
    assert_eq!(passed_over[2]["mend"], "unset FOREBAY_NO_SUCH_THING");

    let check = |arguments: &[&str]| {
        let mut command = forebay(["config", "--check"]);
        let output = command.args(arguments).env("FOREBAY_HOME", &home).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    };
    let (told, code) = check(&[]);
    assert_eq!((told.lines().count(), code), (4, Some(2)), "{told}");
    assert!(told.ends_with("With these settings nothing starts.\n"), "{told}");
    let (told, code) = check(&["--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((told["is_usable"].as_bool(), code), (Some(false), Some(2)));
    assert_eq!(told["problems"].as_array().unwrap().len(), 3, "{told}");
    fs::write(home.join("forebay.toml"), "treshold = 5\n").unwrap();
    assert!(matches!(check(&[]), (told, Some(0)) if told.ends_with("All other settings hold.\n")));
    fs::write(home.join("forebay.toml"), "threshold = 5\n").unwrap();
    assert_eq!(check(&[]), ("All settings are in order.\n".to_owned(), Some(0)));
}

#[test]
fn a_file_of_settings_that_was_named_and_is_not_there_is_a_problem_alone() {
    let home = new_home("settings_named");
    let told = found(&mut doctor(&home, &["--no-start", "--config", "/no/where.toml"]));
    assert!(!told.is_well() && told.one("settings", "problem").0.starts_with("/no/where.toml: "));
    assert!(told.of("settings", "ok").is_empty(), "no defaults hold");
    assert!(
        found(&mut doctor(&home, &["--no-start"])).one("settings", "ok").0.contains("defaults")
    );
}

#[test]
fn a_home_that_cannot_be_told_is_a_problem_and_the_rest_is_left() {
    let lost = found(&mut doctor(Path::new("some/where"), &[]));
    assert!(!lost.is_well());
    let (text, mend) = lost.one("settings", "problem");
    assert!(text.starts_with("FOREBAY_HOME: cannot be `some/where`"), "{text}");
    assert_eq!(mend, "unset FOREBAY_HOME");
    assert!(lost.of("store", "ok").is_empty() && !lost.of("versions", "ok").is_empty());
}

/// A server that says why it ends, among what it says about itself.
const UNSET: &str = "printf 'starting\\nError: DATABASE_URL is not set\\n    at main.js:3\\nsee the manual\\n' >&2; exit 1";

#[test]
fn servers_are_started_and_those_that_fail_say_why() {
    let home = new_home("servers");
    fs::create_dir_all(&home).unwrap();
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let settings = [
        server("missing", &words(&["/no/such/program"]), ""),
        server("failing", &words(&["sh", "-c", "exit 3"]), ""),
        server("unset", &words(&["sh", "-c", UNSET]), ""),
        server("mute", &words(&["sleep", "1000"]), "start_timeout = 1"),
        server("resting", &words(&["sleep", "1000"]), "enabled = false"),
        server("good", &fixture(&[]), "env = { TOKEN = \"hush\" }"),
    ];
    let file = home.join("forebay.toml");
    fs::write(&file, settings.concat()).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(&home, Permissions::from_mode(0o755)).unwrap();
    let tried = found(&mut doctor(&home, &[]));
    assert!(!tried.is_well());
    let broken = tried.of("servers", "problem");
    for (finding, (name, why)) in broken.iter().zip([
        ("missing", "there is no file `/no/such/program`"),
        ("failing", "cannot be used: exited with code 3."),
        ("unset", "exited with code 1; it said: Error: DATABASE_URL is not set / see the manual."),
        ("mute", "did not open within 1 s. What has to be fetched first may be there by now: look again."),
    ]) {
        assert!(finding["text"].as_str().unwrap().contains(why), "{finding}");
        let check = format!("forebay servers check {name}");
        if name == "mute" {
            // What had to be fetched may be there at the next start.
            assert_eq!(finding["mend"], check);
        } else {
            let place = format!("`[servers.{name}]` in the settings");
            assert_eq!(finding["advice"], format!("Correct {place}; `{check}` tells whether it works then."));
        }
    }
    assert_eq!(broken.len(), 4, "{broken:#?}");
    assert!(tried.one("servers", "ok").0.starts_with("`good` works, with "));
    assert_eq!(tried.one("servers", "note").0, "`resting` is not started: `enabled` is false.");
    assert_eq!(tried.one("settings", "warning").1, format!("chmod 600 {}", file.display()));
    let left = found(&mut doctor(&home, &["--no-start"]));
    assert!(left.is_well());
    let (text, _) = left.one("servers", "note");
    assert!(
        text.contains("not started now: missing, failing, unset, mute, resting, good"),
        "{text}"
    );
    let all = serde_json::to_string(&[tried.findings, left.findings]).unwrap();
    assert!(!all.contains("hush"), "{all}");
    let check = forebay(["servers", "check", "unset"]).env("FOREBAY_HOME", &home).output().unwrap();
    assert_eq!(check.status.code(), Some(1));
    let told = String::from_utf8(check.stdout).unwrap();
    let why = "exited with code 1; it said: Error: DATABASE_URL is not set / see the manual";
    assert_eq!(told.trim(), format!("unset: {why}"));
    // All of it can be read, too.
    assert!(String::from_utf8(check.stderr).unwrap().contains("    at main.js:3\n"));
}

#[test]
fn a_server_that_prints_without_end_is_given_up_and_holds_up_no_other() {
    let home = new_home("noise");
    fs::create_dir_all(&home).unwrap();
    let settings = [server("noisy", &["yes".to_owned()], ""), server("good", &fixture(&[]), "")];
    fs::write(home.join("forebay.toml"), settings.concat()).unwrap();
    let told = found(&mut doctor(&home, &[]));
    let (text, _) = told.one("servers", "problem");
    assert!(
        text.starts_with("`noisy` cannot be used") && text.contains("no MCP message"),
        "{text}"
    );
    assert!(told.one("servers", "ok").0.starts_with("`good` works"), "{:#?}", told.findings);
}

#[test]
fn a_server_that_opens_and_tells_nothing_is_given_up() {
    let home = new_home("reserved");
    fs::create_dir_all(&home).unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}\n"#;
    let script = format!(
        "while read -r line; do case $line in *'\"initialize\"'*) id=${{line#*\\\"id\\\":}}; id=${{id%%,*}}; printf '{answer}' \"$id\";; esac; done"
    );
    let path = home.join("reserved.sh");
    fs::write(&path, script).unwrap();
    let words = ["sh".to_owned(), path.to_str().unwrap().to_owned()];
    fs::write(home.join("forebay.toml"), server("reserved", &words, "")).unwrap();
    let told = found(&mut doctor(&home, &[]));
    let (text, _) = told.one("servers", "problem");
    assert_eq!(text, "`reserved` opens, and does not tell which tools it has.");
}

#[test]
fn servers_with_mistakes_are_not_passed_over_in_silence() {
    let home = new_home("mistaken");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("forebay.toml"), "[servers.a]\n[servers.b]\ncomand = \"x\"\n").unwrap();
    let told = found(&mut doctor(&home, &[]));
    assert!(!told.is_well());
    let (text, _) = told.one("servers", "note");
    assert!(text.contains("which have mistakes"), "{text}");
    assert_eq!(told.advice("servers", "note"), "`forebay config --check` tells them.");
}

#[test]
fn what_others_can_read_is_told_and_the_command_closes_it() {
    let (home, _) = with_orders("doctor_modes");
    let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    mode(&home, 0o755);
    let listed = found(&mut doctor(&home, &[]));
    assert!(listed.is_well(), "they see names, and no more: {:#?}", listed.findings);
    mode(&home.join("datasets"), 0o755);
    mode(&home.join("catalog.db"), 0o644);
    let open = found(&mut doctor(&home, &[]));
    assert!(!open.is_well());
    let (text, mend) = open.one("store", "problem");
    let first = home.join("datasets");
    assert_eq!(
        text,
        format!("Other users of this machine can read {} and 1 more.", first.display())
    );
    assert!(Command::new("sh").args(["-c", mend]).status().unwrap().success());
    let closed = found(&mut doctor(&home, &[]));
    assert!(closed.is_well());
    let told = serde_json::to_string(&closed.findings).unwrap();
    assert!(!told.contains("Other users"), "{told}");
}

#[test]
fn where_nothing_can_be_written_that_is_what_is_told() {
    const NOBODY: u32 = 65_534;
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("forebay");
    fs::copy(env!("CARGO_BIN_EXE_forebay"), &program).unwrap();
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    for (path, mode) in [(place.path(), 0o755), (&program, 0o755), (&home, 0o555)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).env_clear().env("FOREBAY_HOME", &home).env("HOME", place.path());
        command.env("FOREBAY_SEARCH_EMBEDDER", "none").env("FOREBAY_ODD", "1").current_dir("/");
        // Nothing is read-only for the one who may do anything.
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    let told = found(&mut run(&["doctor", "--no-start"]));
    assert!(!told.is_well());
    let (text, mend) = told.one("store", "problem");
    assert!(text.contains("cannot be written: nothing can be kept"), "{text}");
    assert!(mend.ends_with(home.to_str().unwrap()), "{mend}");
    // Nor can a home be made where nothing can be written.
    let missing = home.join("deep/home");
    let told = found(run(&["doctor", "--no-start"]).env("FOREBAY_HOME", &missing));
    assert!(!told.is_well());
    let (text, _) = told.one("store", "problem");
    assert!(text.contains("is not there and cannot be made"), "{text}");
    // What cannot be written down is said, and costs nothing else.
    let listed = run(&["datasets", "list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stderr).contains("FOREBAY_ODD"), "{listed:?}");
    assert!(listed.status.success() && fs::read_dir(&home).unwrap().next().is_none());
}

#[test]
fn an_engine_that_cannot_be_loaded_is_told() {
    // So little memory is enough for everything but DuckDB: the program itself takes some 155,000.
    let home = new_home("library");
    let script = "ulimit -v 180000; exec \"$0\" doctor --no-start \"$@\"";
    let mut command = Command::new("sh");
    crate::without_settings(&mut command).args(["-c", script, env!("CARGO_BIN_EXE_forebay")]);
    command.env("FOREBAY_HOME", &home).env("FOREBAY_SEARCH_EMBEDDER", "none");
    let told = found(&mut command);
    assert!(!told.is_well());
    assert!(told.one("engine", "problem").0.starts_with("Queries cannot be answered: "));
    // The library was unpacked; where it is not, words say what may be missing.
    assert_eq!(told.one("engine", "problem").1.is_empty(), !home.join("lib").exists());
}

#[test]
fn what_no_command_mends_is_said_in_words_apart_from_commands() {
    let home = new_home("advice");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("forebay.toml"), "treshold = 5\n").unwrap();
    let mut command = doctor(&home, &["--no-start"]);
    command
        .env("FOREBAY_SEARCH_EMBEDDER", "service")
        .env("FOREBAY_SEARCH_EMBEDDER_URL", "http://127.0.0.1:9/v1")
        .env("FOREBAY_SEARCH_EMBEDDER_MODEL", "any");
    let told = found(&mut command);
    let words = told.advice("engine", "warning");
    assert!(words.ends_with("write `search.embedder = \"none\"` there."), "{words}");
    let shown = doctor(&home, &["--no-start"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let advice = format!("Edit {}, line 1.", home.join("forebay.toml").display());
    let is_plain = |line: &str| line.starts_with("           ") && !line.contains('→');
    let joined: String = shown.lines().filter(|line| is_plain(line)).map(str::trim).collect();
    assert!(joined.replace(' ', "").contains(&advice.replace(' ', "")), "{shown}");
}

#[test]
fn thresholds_that_clients_do_not_take_are_told_with_who_cuts() {
    let home = new_home("limits");
    fs::create_dir_all(&home).unwrap();
    let settings =
        "threshold = 12_000\nexcluded_tools = [\"raw_*\"]\n[tools.log]\nthreshold = 30_000\n";
    fs::write(home.join("forebay.toml"), settings).unwrap();
    let told = found(&mut doctor(&home, &["--no-start"]));
    assert!(told.is_well());
    let texts: Vec<&str> =
        told.of("limits", "note").iter().map(|it| it["text"].as_str().unwrap()).collect();
    let [general, tool, passing] = texts[..] else { panic!("{texts:#?}") };
    assert!(
        general.contains("Codex takes 10,000 tokens") && !general.contains("Claude Code"),
        "{general}"
    );
    assert!(tool.contains("`log`") && tool.contains("Claude Code takes 25,000 tokens"), "{tool}");
    assert!(passing.starts_with("Results of `raw_*` always pass"), "{passing}");
}

#[test]
fn clients_are_told_with_what_stands_behind_forebay() {
    let home = new_home("clients");
    let person = home.join("person");
    fs::create_dir_all(person.join(".cursor")).unwrap();
    let servers = r#"{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}"#;
    fs::write(person.join(".cursor/mcp.json"), servers).unwrap();
    let told = found(doctor(&home, &["--no-start"]).env("HOME", &person).current_dir(&person));
    let notes = told.of("clients", "note");
    let bare = notes.iter().find(|it| it["mend"] == "forebay install --client cursor");
    assert!(bare.is_some_and(|it| it["text"].as_str().unwrap().contains("`git`")), "{notes:#?}");
    let (unknown, _) = told.one("limits", "note");
    assert!(unknown.contains("is not known of Cursor; up to 8,192 tokens pass."), "{unknown}");
    // Of the limits, those of the clients that are here count.
    fs::create_dir_all(person.join(".codex")).unwrap();
    fs::write(person.join(".codex/config.toml"), "[mcp_servers.a]\ncommand = \"b\"\n").unwrap();
    let told = found(doctor(&home, &["--no-start"]).env("HOME", &person).current_dir(&person));
    let (codex, _) = told.one("limits", "ok");
    assert_eq!(codex, "Codex takes 10,000 tokens; up to 8,192 tokens pass, so it cuts none.");
    let mut command = doctor(&home, &["--no-start"]);
    command.env("HOME", &person).current_dir(&person).env("FOREBAY_THRESHOLD", "12000");
    let cut = found(&mut command);
    let (text, _) = cut.one("limits", "warning");
    assert!(text.contains("Codex takes 10,000 tokens") && !text.contains("Cline"), "{text}");
}

#[test]
fn the_version_is_short_or_tells_the_build() {
    let said = |flag| String::from_utf8(forebay([flag]).output().unwrap().stdout).unwrap();
    let short = said("-V");
    assert_eq!(short, format!("forebay {}\n", env!("CARGO_PKG_VERSION")));
    let long = said("--version");
    assert!(long.starts_with(&short), "{long}");
    let names: Vec<&str> =
        long.lines().skip(1).filter_map(|line| Some(line.split_once(':')?.0)).collect();
    assert_eq!(names, ["commit", "target", "rustc", "DuckDB", "model", "catalog", "protocol"]);
}

//! Completions in a real shell, and manual pages in a real formatter.

use std::{fs, process::Command};

use forebay_testkit::real;

use super::new_home;
use crate::forebay;

fn printed(arguments: &[&str]) -> String {
    let output = forebay(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bash_completes_commands_and_options() {
    let folder = new_home("completions");
    fs::create_dir_all(&folder).unwrap();
    let script = folder.join("forebay.bash");
    fs::write(&script, printed(&["completions", "bash"])).unwrap();
    let completed = |words: &[&str]| {
        let line = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let ask = format!(
            "source '{}'; COMP_WORDS=({line}); COMP_CWORD={}; COMPREPLY=(); \
             _forebay forebay \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display(),
            words.len() - 1,
        );
        let output = Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(completed(&["forebay", "data"]), ["datasets"]);
    assert_eq!(completed(&["forebay", "datasets", "ver"]), ["verify"]);
    assert_eq!(completed(&["forebay", "doctor", "--no-s"]), ["--no-start"]);
    assert_eq!(completed(&["forebay", "install", "--client", "ki"]), ["kiro"]);
    assert!(!completed(&["forebay", ""]).iter().any(|word| word.contains("worker")));
}

/// What a person does: an interactive zsh at a terminal of its own gets the words of a line and the Tab key, and then
/// another key that shows what the line has become.
const AT_A_TERMINAL: &str = r#"
zmodload zsh/zpty
zpty shell zsh -f -i
enter() { zpty -w shell "$1" }
enter 'PS1= PROMPT_EOL_MARK=; fpath=($FOLDER $fpath); autoload -U compinit; compinit -u -d $FOLDER/dump'
enter 'show() { print -r -- "<$BUFFER>" }; zle -N show; bindkey "^X" show'
enter 'zle-line-init() { print -r -- rea""dy }; zle -N zle-line-init'
zpty -r -m shell seen '*ready*' || exit 1
zpty -w -n shell "$LINE"$'\t\x18'
zpty -r -m shell seen '*<*>*' || exit 1
print -r -- "$seen"
"#;

#[test]
fn zsh_completes_commands_and_options() {
    let test = "zsh_completes_commands_and_options";
    let Some(zsh) = real::debian(test, "zsh", "zsh") else { return };
    let folder = new_home("completions-zsh");
    fs::create_dir_all(&folder).unwrap();
    // As zsh finds it, by its name and its first line.
    let script = folder.join("_forebay");
    fs::write(&script, printed(&["completions", "zsh"])).unwrap();
    assert_eq!(complaints(Command::new(&zsh).arg("-n").arg(&script)), "");
    let completed = |line: &str| {
        let mut command = Command::new(&zsh);
        command.args(["-f", "-c", AT_A_TERMINAL]).env("FOLDER", &folder).env("LINE", line);
        let output = command.output().unwrap();
        let seen = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{seen} {}", String::from_utf8_lossy(&output.stderr));
        let (_, line) = seen.rsplit_once('<').unwrap();
        line.split('>').next().unwrap().trim_end().to_owned()
    };
    assert_eq!(completed("forebay data"), "forebay datasets");
    assert_eq!(completed("forebay datasets ver"), "forebay datasets verify");
    assert_eq!(completed("forebay doctor --no-s"), "forebay doctor --no-start");
    assert_eq!(completed("forebay install --client ki"), "forebay install --client kiro");
}

#[test]
fn fish_completes_commands_and_options() {
    let test = "fish_completes_commands_and_options";
    let Some(fish) = real::debian(test, "fish", "fish") else { return };
    let home = new_home("completions-fish");
    fs::create_dir_all(&home).unwrap();
    let script = home.join("forebay.fish");
    fs::write(&script, printed(&["completions", "fish"])).unwrap();
    assert_eq!(complaints(Command::new(&fish).arg("--no-execute").arg(&script)), "");
    let completed = |line: &str| {
        let ask = format!("source '{}'; complete --do-complete '{line}'", script.display());
        let mut command = Command::new(&fish);
        let output = command.args(["--no-config", "-c", &ask]).env("HOME", &home).output().unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        // Behind a tab stands what it means.
        let words = lines.lines().map(|line| line.split('\t').next().unwrap().to_owned());
        words.collect::<Vec<_>>()
    };
    assert_eq!(completed("forebay data"), ["datasets"]);
    assert_eq!(completed("forebay datasets ver"), ["verify"]);
    assert_eq!(completed("forebay doctor --no-s"), ["--no-start"]);
    assert_eq!(completed("forebay install --client ki"), ["kiro"]);
    assert!(!completed("forebay ").iter().any(|word| word.contains("worker")));
}

/// What a program says is wrong.
fn complaints(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() || !said.is_empty(), "{:?}", output.status);
    said
}

#[test]
fn every_shell_has_its_script() {
    let script = printed(&["completions", "powershell"]);
    assert!(script.contains("Register-ArgumentCompleter") && script.contains("datasets"));
    assert_eq!(forebay(["completions", "tcsh"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn manual_pages_are_set_without_a_warning() {
    let folder = new_home("man");
    let written = printed(&["man", "--out", folder.to_str().unwrap()]);
    let pages: Vec<&str> = written.lines().collect();
    assert!(
        pages.len() > 20 && pages.iter().any(|page| page.ends_with("/forebay-datasets-verify.1")),
        "{written}"
    );
    assert!(!written.contains("worker") && !written.contains("help"), "{written}");
    assert!(printed(&["man"]).contains(".TH forebay 1"));
    let test = "manual_pages_are_set_without_a_warning";
    let Some(groff) = real::debian(test, "groff", "groff-base") else { return };
    for page in pages {
        let set = Command::new(&groff).args(["-man", "-Tutf8", "-ww", page]).output().unwrap();
        assert!(set.stderr.is_empty(), "{page}: {}", String::from_utf8_lossy(&set.stderr));
        assert!(set.stdout.len() > 200, "{page}");
    }
}

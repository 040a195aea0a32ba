//! Completions in a real shell, and manual pages in a real formatter.

use std::{
    fs,
    process::{Command, Stdio},
};

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

#[test]
fn every_shell_has_its_script() {
    for (shell, sign) in [
        ("zsh", "#compdef forebay"),
        ("fish", "complete -c forebay"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = printed(&["completions", shell]);
        assert!(script.contains(sign) && script.contains("datasets"), "{shell}");
    }
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
    if Command::new("groff").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("SKIPPED: there is no groff");
        return;
    }
    for page in pages {
        let set = Command::new("groff").args(["-man", "-Tutf8", "-ww", page]).output().unwrap();
        assert!(set.stderr.is_empty(), "{page}: {}", String::from_utf8_lossy(&set.stderr));
        assert!(set.stdout.len() > 200, "{page}");
    }
}

//! The page in a real browser: every page and action, with and without scripts, light and dark, narrow and wide.

mod acting;
mod happening;
mod hostile;
mod viewing;

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::{Page, index, keep};

/// A desk's screen and a phone's, light and dark.
const SIZES: [(u32, bool); 4] = [(1280, false), (1280, true), (390, false), (390, true)];

/// Where a test puts its pictures, if somebody wants to look at them.
fn pictures(test: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("FOREBAY_PICTURES")?).join(test);
    fs::create_dir_all(&folder).unwrap();
    Some(folder)
}

fn kept() -> Page {
    let home = tempfile::tempdir().unwrap();
    keep(home.path(), &[("nested", 60), ("log", 80), ("echo", 1), ("fail", 1), ("records", 300)]);
    index(home.path());
    Page::at(home)
}

/// What holds of every view: anybody can use it, it fits the screen, nothing is wrong and nobody else is asked.
fn check(seen: &Value, count: usize) {
    // Where the opening has led to: the first page.
    let here = seen["opened"].as_str().unwrap();
    let views = seen["views"].as_array().unwrap();
    assert_eq!(views.len(), count);
    for view in views {
        let name = format!("{} at {}, dark {}", view["path"], view["width"], view["dark"]);
        // The browser itself says so when a page is refused, or is not there.
        let status = view["status"].as_u64().filter(|status| *status != 200);
        let status = status.map(|status| format!("status of {status}"));
        let complaints = view["complaints"].as_array().unwrap();
        let is_status = |it: &Value| {
            status.as_ref().is_some_and(|status| it.as_str().unwrap().contains(status))
        };
        assert!(complaints.iter().all(is_status), "{name}: {complaints:?}");
        assert_eq!(complaints.is_empty(), status.is_none(), "{name}");
        let asked = view["requests"].as_array().unwrap();
        let is_here = |url: &Value| url.as_str().unwrap().starts_with(here);
        assert!(!asked.is_empty() && asked.iter().all(is_here), "{name}: {asked:?}");
        assert_eq!(view["overflow"], false, "{name} is not wider than the screen");
        let grave = view["axe"].as_array().unwrap().iter();
        let grave: Vec<&Value> =
            grave.filter(|it| it["impact"] == "serious" || it["impact"] == "critical").collect();
        assert_eq!(grave, Vec::<&Value>::new(), "{name}");
    }
}

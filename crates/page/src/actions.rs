//! What people change: datasets are pinned, tagged and removed, servers started anew. All of it by POST.

use askama::Template as _;
use bytes::Bytes;
use forebay_store::Tag;
use forebay_text::counted;
use http::{Response, StatusCode};

use forebay_proxy::router::UpstreamName;

use crate::{
    Live, Pages,
    dataset::{remove::Confirmation, tag},
    given::Given,
    problem::Problem,
    reply::{moved, with},
    visible::named,
};

pub(crate) fn act(pages: &Pages, path: &str, form: &Given) -> Result<Response<Bytes>, Problem> {
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    match steps.as_slice() {
        ["dataset", id, "delete"] if form.get("confirmed").is_none() => {
            let page = Confirmation::of(pages, id)?.render()?;
            Ok(with(StatusCode::OK, "text/html; charset=utf-8", page.into()))
        }
        ["dataset", id, what] => {
            let page = format!("/dataset/{id}");
            let back = back(form);
            change(pages, id, what, form)
                .map_err(|problem| problem.asked_on(back.clone().unwrap_or(page.clone())))?;
            let usual = if *what == "delete" { "/shelf".to_owned() } else { page };
            Ok(moved(&back.unwrap_or(usual), None))
        }
        ["shelf"] => {
            let back = back(form).unwrap_or_else(|| "/shelf".to_owned());
            on_shelf(pages, form, &back).map_err(|problem| problem.asked_on(back))
        }
        ["servers"] => restart(pages, form).map_err(|it| it.asked_on("/servers".to_owned())),
        _ => Err(Problem::missing("There is nothing to change.")),
    }
}

/// Starts a server anew that is under way here.
fn restart(pages: &Pages, form: &Given) -> Result<Response<Bytes>, Problem> {
    let live = pages.around.live();
    let Live::Group(group) = &live else {
        return Err(Problem::refused(crate::servers::why_not_anew(&live).unwrap_or_default()));
    };
    let name = form.get("restart").unwrap_or_default();
    let standings = live.standings();
    if !standings.iter().any(|standing| standing.name.as_str() == name) {
        let name = named(name);
        return Err(Problem::missing(if standings.is_empty() {
            format!(
                "{name} cannot be started anew: no client is connected, so no server is started."
            )
        } else {
            format!("{name} cannot be started anew: there is no server of that name here.")
        }));
    }
    group.restart(&UpstreamName::new(name));
    Ok(moved("/servers", None))
}

/// What is done with all datasets that are chosen on the shelf.
fn on_shelf(pages: &Pages, form: &Given, back: &str) -> Result<Response<Bytes>, Problem> {
    let ids: Vec<&str> = form.all("id").collect();
    let what = form.get("what").unwrap_or_default();
    if ids.is_empty() {
        return Err(Problem::refused("Choose datasets first, by the boxes before them."));
    }
    if what == "delete" && form.get("confirmed").is_none() {
        let page = Confirmation::of_many(pages, &ids, back)?.render()?;
        return Ok(with(StatusCode::OK, "text/html; charset=utf-8", page.into()));
    }
    let (mut done, mut failed) = (0, Vec::new());
    for id in &ids {
        match change(pages, id, what, form) {
            Ok(()) => done += 1,
            Err(problem) => failed.push(problem),
        }
    }
    match (done, failed.pop()) {
        (_, None) => Ok(moved(back, None)),
        (0, Some(problem)) => Err(problem),
        (done, Some(last)) => {
            failed.push(last);
            let told: Vec<&str> = failed.iter().map(Problem::what).collect();
            let done = format!("Done with {} of {}.", done, counted(ids.len() as u64, "dataset"));
            Err(Problem::partly(format!("{done} {}", told.join(" "))))
        }
    }
}

/// Changes one dataset.
fn change(pages: &Pages, id: &str, what: &str, form: &Given) -> Result<(), Problem> {
    let store = pages.desk.store()?;
    let tags = || -> Result<Vec<Tag>, Problem> {
        let names = form.get("tag").unwrap_or_default().split([',', ' ']);
        let tags: Vec<Tag> =
            names.filter(|name| !name.is_empty()).map(tag).collect::<Result<_, _>>()?;
        if tags.is_empty() {
            return Err(Problem::refused("Write a tag into the box first."));
        }
        Ok(tags)
    };
    match what {
        "pin" => store.pin(pages.dataset(id)?.id())?,
        "unpin" => store.unpin(pages.dataset(id)?.id())?,
        "tag" => drop(store.tag(pages.dataset(id)?.id(), &tags()?, &[])?),
        "untag" => drop(store.tag(pages.dataset(id)?.id(), &[], &tags()?)?),
        // One that is damaged can be removed, too.
        "delete" => {
            let id = pages.listed(id)?;
            if !store.remove(&id)? {
                return Err(Problem::refused(format!("{id} is being read; try again later.")));
            }
        }
        other => return Err(Problem::missing(format!("There is nothing called {other}."))),
    }
    Ok(())
}

/// Where a form wants to go afterwards, if that is a page of ours.
fn back(form: &Given) -> Option<String> {
    form.local("back").map(str::to_owned)
}

//! Where in a client's file the servers are.

use std::path::PathBuf;

use crate::{
    catalogue::Client,
    document::{Node, Place, Shape},
};

/// The places of the tables that servers are in; the first may be missing.
pub(crate) fn tables(root: &Node, client: &Client) -> Result<Vec<Place>, String> {
    nothing_twice(root, client)?;
    if let Some(newer) = client.newer_table {
        let place: Place = newer.iter().map(|part| (*part).to_owned()).collect();
        let is_server =
            |table: &Node| ["command", "url"].iter().any(|key| table.member(key).is_some());
        let table = root.at(&place).filter(|table| !is_server(table));
        if table.is_some_and(|table| matches!(table.shape, Shape::Table(_))) {
            check(root, &place)?;
            return Ok(vec![place]);
        }
    }
    let mut found: Vec<Place> = Vec::new();
    for path in client.tables {
        let mut places: Vec<Place> = vec![Vec::new()];
        for part in *path {
            places = places
                .into_iter()
                .flat_map(|place| match *part {
                    "*" => {
                        let members = root.at(&place).map(Node::members).unwrap_or_default();
                        let named =
                            |key: &String| [place.as_slice(), std::slice::from_ref(key)].concat();
                        members.iter().map(|member| named(&member.key)).collect()
                    }
                    part => vec![[place.as_slice(), &[part.to_owned()]].concat()],
                })
                .collect();
        }
        let is_first = found.is_empty();
        found.extend(places.into_iter().filter(|it| is_first || root.at(it).is_some()));
    }
    for place in &found {
        check(root, place)?;
    }
    Ok(found)
}

/// The folders of the projects that a file names.
pub(crate) fn projects(root: &Node, client: &Client) -> Vec<PathBuf> {
    let tables = tables_of_projects(client);
    let members = tables.filter_map(|place| root.at(&place)).flat_map(Node::members);
    members.map(|member| PathBuf::from(&member.key)).collect()
}

/// The places of the tables that have projects by their folders.
pub(crate) fn tables_of_projects(client: &Client) -> impl Iterator<Item = Place> {
    client.tables.iter().filter_map(|path| {
        let at = path.iter().position(|part| *part == "*")?;
        Some(path[..at].iter().map(|part| (*part).to_owned()).collect())
    })
}

/// Makes sure that no key on the way to a table of servers stands twice: clients read the last, and servers may stand
/// in the first.
pub(crate) fn nothing_twice(root: &Node, client: &Client) -> Result<(), String> {
    for path in client.tables.iter().chain(client.newer_table.as_slice()) {
        let mut nodes = vec![root];
        for part in *path {
            let meant = |key: &str| *part == "*" || *part == key;
            for node in &nodes {
                let keys = node.members().iter().map(|member| member.key.as_str());
                if let Some(key) = keys.filter(|key| meant(key)).find(|key| node.has_twice(key)) {
                    return Err(format!("`{key}` stands twice in it; leave one of them out"));
                }
            }
            let members = nodes.into_iter().flat_map(Node::members);
            nodes = members.filter(|it| meant(&it.key)).map(|it| &it.value).collect();
        }
    }
    Ok(())
}

/// Makes sure that what is meant is a table.
fn check(root: &Node, place: &[String]) -> Result<(), String> {
    let mut node = root;
    for key in place {
        let Some(member) = node.member(key) else { return Ok(()) };
        node = &member.value;
        // Nothing is as good as an empty table.
        if !matches!(node.shape, Shape::Table(_)) && !node.value().is_null() {
            return Err(format!("`{key}` in it is no table of servers"));
        }
    }
    Ok(())
}

//! What is changed on the page is changed in the store.

use forebay_store::Filter;

use super::Page;

#[test]
fn datasets_are_pinned_tagged_and_removed() {
    let page = Page::of(&[("records", 50), ("records", 60), ("records", 70)]);
    let ids = page.ids();
    let entry = |id: &str| {
        let all = page.store().list(&Filter::default()).unwrap();
        all.into_iter().find(|entry| entry.id.as_str() == id)
    };
    let act = |what: &str, form: &str| page.post(&format!("/dataset/{}/{what}", ids[0]), form);
    let pinned = act("pin", "");
    assert_eq!(pinned.head.status, 303);
    assert_eq!(pinned.head.header("location"), Some(format!("/dataset/{}", ids[0]).as_str()));
    assert!(entry(&ids[0]).unwrap().is_pinned);
    act("unpin", "");
    assert!(!entry(&ids[0]).unwrap().is_pinned);
    act("tag", "tag=invoices%2F2026+late");
    let tags = entry(&ids[0]).unwrap().tags;
    assert!(tags.iter().any(|tag| tag == "invoices/2026") && tags.iter().any(|tag| tag == "late"));
    assert_eq!(page.json("/shelf.json?tag=late")["fitting"], 1);
    act("untag", "tag=late");
    assert!(!entry(&ids[0]).unwrap().tags.iter().any(|tag| tag == "late"));
    assert_eq!(act("tag", "tag=%3Cscript%3E").head.status, 400);
    assert_eq!(act("explode", "").head.status, 404);
    let asked = act("delete", "");
    assert!(asked.head.status == 200 && asked.text.contains(&format!("Delete {}?", ids[0])));
    // Many at once, and only after they were asked for again.
    let chosen = format!("id={}&id={}&what=delete&back=/shelf", ids[0], ids[1]);
    let asked = page.post("/shelf", &chosen);
    assert_eq!(asked.head.status, 200);
    assert!(asked.text.contains("Delete 2 datasets?"), "{}", asked.text);
    assert_eq!(page.ids().len(), 3);
    let done = page.post("/shelf", &format!("{chosen}&confirmed=yes"));
    assert_eq!((done.head.status, done.head.header("location")), (303, Some("/shelf")));
    assert_eq!(page.ids(), [ids[2].clone()]);
    assert_eq!(page.get(&format!("/dataset/{}", ids[0])).head.status, 404);
    assert_eq!(page.post("/shelf", "what=pin").head.status, 400, "nothing is chosen");
    // One of them is gone, and one stands on another page.
    let chosen =
        format!("id={}&id={}&what=delete&back=/shelf%3Ftool%3Drecords%26page%3D2", ids[0], ids[2]);
    let asked = page.post("/shelf", &chosen);
    assert!(asked.text.contains(&format!("Delete {}?", ids[2])), "{}", asked.text);
    assert!(asked.text.contains("name=\"back\" value=\"/shelf?tool=records\""), "{}", asked.text);
}

#[test]
fn nobody_is_sent_elsewhere() {
    let page = Page::of(&[("records", 50)]);
    let id = page.ids().remove(0);
    for back in ["https://evil.example", "//evil.example", "/%5Cevil.example", "evil"] {
        let answer = page.post(&format!("/dataset/{id}/pin"), &format!("back={back}"));
        let place = answer.head.header("location").unwrap().to_owned();
        assert_eq!(place, format!("/dataset/{id}"), "{back}");
    }
}

#[test]
fn a_form_that_is_too_long_is_turned_away() {
    let page = Page::of(&[("records", 50)]);
    let mut connection = forebay_testkit::http::Connection::open(page.address);
    let request = format!(
        "POST /shelf HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nContent-Length: 300000\r\n\r\n",
        page.address,
        page.cookie()
    );
    connection.send_bytes(request.as_bytes());
    assert_eq!(connection.head().status, 413);
}

#[test]
fn of_many_as_many_are_changed_as_can_be() {
    let page = Page::of(&[("records", 50), ("records", 60)]);
    let ids = page.ids();
    let form = format!("id={}&id=dataset_zzzzzzzz&what=tag&tag=late", ids[0]);
    let answer = page.post("/shelf", &form);
    assert_eq!(answer.head.status, 409);
    let told = &answer.text;
    assert!(told.contains("Done with 1 of 2 datasets."), "{told}");
    assert!(told.contains("There is no dataset dataset_zzzzzzzz"), "{told}");
    assert_eq!(page.json("/shelf.json?tag=late")["fitting"], 1);
    let none = page.post("/shelf", &format!("id={}&what=tag&tag=+", ids[1]));
    assert_eq!(none.head.status, 400);
    assert!(none.text.contains("Nothing was changed") && none.text.contains("Write a tag"));
    let shelf = page.get("/shelf").text;
    let place = |what: &str| shelf.find(&format!("name=\"what\" value=\"{what}\"")).unwrap();
    assert!(place("tag") < place("pin"), "Enter in the box presses the first button");
}

#[test]
fn what_is_left_of_a_damaged_dataset_is_shown_and_removed() {
    let page = Page::of(&[("records", 50), ("records", 60)]);
    let ids = page.ids();
    let file = |id: &str, end: &str| {
        let mut folders = vec![page.home.path().join("datasets")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if name.starts_with(id) && name.ends_with(end) {
                    return path;
                }
            }
        }
        panic!("{id} has a file {end}");
    };
    // Its payload is another: everything else that is known of it is shown.
    std::fs::write(file(&ids[0], "_data.json"), "[]").unwrap();
    let shown = page.get(&format!("/dataset/{}", ids[0]));
    assert_eq!(shown.head.status, 200, "{}", shown.text);
    assert!(shown.text.contains("Large response detected") && shown.text.contains("Delete…"));
    assert!(shown.text.contains("forebay datasets verify --repair"), "{}", shown.text);
    // Its metadata are gone: what the catalog knows is shown, and it can be removed.
    std::fs::remove_file(file(&ids[1], "_metadata.json")).unwrap();
    let left = page.get(&format!("/dataset/{}", ids[1]));
    assert!(left.text.contains("forebay datasets verify --repair"), "{}", left.text);
    assert!(!left.text.contains("Did you mean"), "{}", left.text);
    let asked = page.get(&format!("/dataset/{}/delete", ids[1]));
    assert!(asked.head.status == 200 && asked.text.contains(&ids[1]), "{}", asked.text);
    let form = format!("id={}&what=delete&confirmed=yes", ids[1]);
    assert_eq!(page.post("/shelf", &form).head.status, 303);
    assert_eq!(page.json("/shelf.json")["total"], 1);
}

//! What several servers have given, asked in one query.

use std::fs;

use forebay_testkit::{http::Era, real};
use serde_json::{Value, json};

use super::{client::Client, dataset_in, gateway, server};

#[test]
fn results_of_two_servers_are_joined() {
    let Some(node) = real::node("results_of_two_servers_are_joined") else { return };
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let orders: Vec<Value> = (0..300)
        .map(|id| json!({ "id": id, "customer": format!("customer {}", id % 40), "total": id * 2 }))
        .collect();
    fs::write(path("orders.json"), json!(orders).to_string()).unwrap();
    let customers: Vec<String> = (0..40)
        .map(|id| {
            let country = ["DE", "FR", "NL", "PL"][id % 4];
            let entity = json!({
                "type": "entity", "name": format!("customer {id}"), "entityType": country,
                "observations": ["pays in time"],
            });
            entity.to_string()
        })
        .collect();
    fs::write(path("memory.jsonl"), customers.join("\n")).unwrap();
    let files = [node.server("server-filesystem"), vec![path("")]].concat();
    let settings = [
        "threshold = 500\n".to_owned(),
        server("files", &files, ""),
        server(
            "memory",
            &node.server("server-memory"),
            &format!("env = {{ MEMORY_FILE_PATH = {:?} }}", path("memory.jsonl")),
        ),
    ]
    .concat();
    let mut client = Client::start(Era::Legacy, &mut gateway(home.path(), &settings));
    let orders = client.text("files__read_text_file", &json!({ "path": path("orders.json") }));
    let customers = client.text("memory__read_graph", &json!({}));
    let query = format!(
        "SELECT c.entityType AS country, count(*) AS orders, sum(o.total)::INT AS total \
         FROM {} o JOIN {} c ON o.customer = c.name GROUP BY ALL ORDER BY 1",
        dataset_in(&orders),
        dataset_in(&customers)
    );
    let answer = client.text("analyze-with-duckdb", &json!({ "query": query }));
    assert_eq!(answer, expected(), "{query}");
    for server in ["files", "memory"] {
        assert_eq!(client.standing(server)["datasets"], 1);
    }
    client.end();
}

/// The same, reckoned without a database.
fn expected() -> String {
    let mut lines = vec!["country,orders,total".to_owned()];
    for (at, country) in ["DE", "FR", "NL", "PL"].into_iter().enumerate() {
        let of_country: Vec<usize> = (0..300).filter(|id| id % 40 % 4 == at).collect();
        let total: usize = of_country.iter().map(|id| id * 2).sum();
        lines.push(format!("{country},{},{total}", of_country.len()));
    }
    lines.join("\n")
}

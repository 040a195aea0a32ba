//! The charts in the documentation: made by the tool, from the demo's data.

use std::{collections::BTreeMap, fs};

use forebay_testkit::peer::Peer;
use serde_json::{Value, json};

use crate::{documents::is_current, forebay, home};

/// What is drawn: a chart's kind, its arguments, and the query.
fn charts() -> [(&'static str, Value, &'static str); 5] {
    [
        (
            "bar",
            json!({"x": "product", "y": "revenue (EUR)", "title": "Revenue by product"}),
            "SELECT product, sum(total) AS \"revenue (EUR)\" FROM list_orders GROUP BY 1 ORDER BY 2 DESC",
        ),
        (
            "line",
            json!({"x": "day", "y": "orders", "series": "country", "title": "Orders a day"}),
            "SELECT date_trunc('day', created_at) AS day, country, count(*) AS orders FROM list_orders \
             WHERE country IN ('DE', 'FR', 'NL') GROUP BY ALL ORDER BY ALL",
        ),
        (
            "scatter",
            json!({"x": "orders", "y": "revenue_eur", "title": "Customers in the Netherlands: orders and revenue"}),
            "SELECT orders, revenue_eur FROM export_customers WHERE country = 'NL'",
        ),
        (
            "histogram",
            json!({"x": "total", "title": "What an order comes to (EUR)"}),
            "SELECT total FROM list_orders",
        ),
        (
            "heatmap",
            json!({"x": "country", "y": "product", "series": "orders", "title": "What is ordered where"}),
            "SELECT country, product, count(*) AS orders FROM list_orders GROUP BY ALL ORDER BY ALL",
        ),
    ]
}

#[test]
fn the_charts_in_the_documentation_are_what_the_tool_draws() {
    let home = home().join("charts");
    let _ = fs::remove_dir_all(&home);
    let program = env!("CARGO_BIN_EXE_forebay");
    let mut command =
        forebay(["wrap", "--grace", "0.1", "--tools", "full", "--", program, "demo-server"]);
    let mut peer = Peer::start(command.env("FOREBAY_HOME", &home));
    let mut call = |name: &str, arguments: &Value| -> Value {
        let params = json!({"name": name, "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer: Value = serde_json::from_str(&peer.ask(&request.to_string())).unwrap();
        answer["result"].clone()
    };
    for tool in ["list_orders", "export_customers"] {
        call(tool, &json!({}));
    }
    let mut drawn = BTreeMap::new();
    for (kind, mut arguments, query) in charts() {
        arguments["chart"] = kind.into();
        arguments["query"] = query.into();
        let reply = call("visualize-dataset", &arguments);
        let said = reply["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{reply}"));
        let path = &said[said.find('/').unwrap()..said.find(".svg").unwrap() + ".svg".len()];
        drawn.insert(kind, fs::read_to_string(path).unwrap());
    }
    for (kind, svg) in drawn {
        is_current(&format!("docs/charts/{kind}.svg"), &svg);
    }
}

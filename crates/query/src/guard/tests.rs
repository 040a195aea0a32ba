use super::{Approved, Form, TableName, check};

fn parser() -> duckdb::Connection {
    let folder = tempfile::tempdir().unwrap();
    crate::library::load(folder.path()).unwrap();
    duckdb::Connection::open_in_memory().unwrap()
}

#[test]
fn a_select_is_approved_with_its_tables() {
    let approved = check(&parser(), "SELECT created_at FROM t JOIN s.u USING (id)").unwrap();
    let table = |schema: Option<&str>, name: &str| TableName {
        schema: schema.map(str::to_owned),
        name: name.to_owned(),
    };
    let tables = vec![table(None, "t"), table(Some("s"), "u")];
    assert_eq!(approved, Approved { form: Form::Select, tables });
}

//! Every refusal says what is wrong and what to do.

use crate::{
    Chart, ChartKind, Column, draw,
    tests::cases::{chart, numbers, texts, times},
};

fn refusal(chart: &Chart) -> String {
    draw(chart).unwrap_err().to_string()
}

#[test]
fn a_chart_without_rows_says_so() {
    for kind in ChartKind::ALL {
        let empty = chart(kind, "", numbers("x", []), None);
        assert_eq!(
            refusal(&empty),
            "there are no rows to draw: choose other data, or loosen the query's filter"
        );
    }
}

#[test]
fn a_chart_without_values_names_the_columns() {
    let nothing = || numbers("y", [f64::NAN, f64::INFINITY]);
    let y = |kind| chart(kind, "", numbers("x", [1.0, 2.0]), Some(nothing()));
    let advice = "choose other columns, or fill the missing values in the query";
    assert_eq!(refusal(&y(ChartKind::Bar)), format!("no row has a number in `y`: {advice}"));
    assert_eq!(refusal(&y(ChartKind::Line)), format!("no row has both `x` and `y`: {advice}"));
    assert_eq!(refusal(&y(ChartKind::Scatter)), format!("no row has both `x` and `y`: {advice}"));
    let histogram = chart(ChartKind::Histogram, "", nothing(), None);
    assert_eq!(refusal(&histogram), format!("no row has a value in `y`: {advice}"));
}

#[test]
fn a_column_of_the_wrong_type_is_named_with_what_it_holds_and_what_it_must_hold() {
    let advice = "choose another column, or cast it in the query";
    let wrong = chart(ChartKind::Line, "", times("day", [0]), Some(texts("city", ["Oslo"])));
    assert_eq!(
        refusal(&wrong),
        format!("`city` holds text, but `y` of a line chart must hold numbers: {advice}")
    );
    let wrong = chart(ChartKind::Bar, "", texts("city", ["Oslo"]), Some(times("day", [0])));
    assert_eq!(
        refusal(&wrong),
        format!("`day` holds times, but `y` of a bar chart must hold numbers: {advice}")
    );
    let wrong = chart(ChartKind::Histogram, "", texts("city", ["Oslo"]), None);
    assert_eq!(
        refusal(&wrong),
        format!(
            "`city` holds text, but `x` of a histogram chart must hold numbers or times: {advice}"
        )
    );
    let cells = chart(ChartKind::Heatmap, "", texts("a", ["1"]), Some(texts("b", ["2"])));
    let wrong = Chart { value: Some(texts("c", ["3"])), ..cells };
    assert_eq!(
        refusal(&wrong),
        format!("`c` holds text, but `value` of a heatmap chart must hold numbers: {advice}")
    );
}

#[test]
fn a_column_that_is_missing_or_has_no_place_is_named() {
    let alone = chart(ChartKind::Scatter, "", numbers("x", [1.0]), None);
    assert_eq!(
        refusal(&alone),
        "a scatter chart needs `y`: name a column that holds numbers or times"
    );
    let more = chart(ChartKind::Histogram, "", numbers("x", [1.0]), Some(numbers("y", [1.0])));
    assert_eq!(
        refusal(&more),
        "a histogram chart takes no `y`: leave it out, or choose another kind of chart"
    );
    let unequal = chart(ChartKind::Line, "", numbers("x", [1.0]), Some(numbers("y", [1.0, 2.0])));
    assert_eq!(refusal(&unequal), "`y` has 2 rows and `x` has 1: take all columns from one query");
}

#[test]
fn a_kind_that_is_not_known_gets_the_list() {
    assert_eq!("heatmap".parse::<ChartKind>().unwrap(), ChartKind::Heatmap);
    assert_eq!(
        "pie".parse::<ChartKind>().unwrap_err().to_string(),
        "there is no chart `pie`: choose one of bar, line, scatter, histogram, heatmap"
    );
}

#[test]
fn a_time_that_no_calendar_has_counts_as_missing() {
    let mut line = chart(ChartKind::Line, "", times("t", [0]), Some(numbers("y", [1.0])));
    line.x.values = Column::Times(vec![Some(i64::MAX)]);
    assert!(refusal(&line).starts_with("no row has both `t` and `y`"));
}

//! Charts of any columns: legible, or refused.

use proptest::{option, prelude::*, sample::select};

use crate::{Axis, Chart, ChartKind, Column, draw, tests::layout::faults, times::DAY};

/// Columns of `rows` values that are all over the place, close together, few, or equal.
fn column(rows: usize) -> impl Strategy<Value = Column> {
    fn values<T: std::fmt::Debug>(
        rows: usize,
        value: impl Strategy<Value = T>,
    ) -> impl Strategy<Value = Vec<Option<T>>> {
        prop::collection::vec(option::weighted(0.95, value), rows)
    }
    let spread = select(vec![0.0, 1e-3, 4.0, 1e7, 1e290]);
    let number = select(vec![0.0, -1e9, 2000.0])
        .prop_flat_map(move |middle| spread.clone().prop_map(move |spread| (middle, spread)))
        .prop_flat_map(move |(middle, spread)| {
            values(rows, (-1.0..=1.0_f64).prop_map(move |part| middle + part * spread))
        });
    let whole = values(rows, (1_990..2_030).prop_map(f64::from));
    let time = select(vec![1, 1_000_000, DAY, 20_000 * DAY])
        .prop_flat_map(move |spread| values(rows, 20_000 * DAY..=20_000 * DAY + spread));
    let text = values(
        rows,
        select(vec!["[a-e]", "category [0-9]{1,2}", ".{0,90}"]).prop_flat_map(|pattern| pattern),
    );
    prop_oneof![
        number.prop_map(Column::Numbers),
        whole.prop_map(Column::Numbers),
        values(rows, any::<f64>()).prop_map(Column::Numbers),
        time.prop_map(Column::Times),
        values(rows, any::<i64>()).prop_map(Column::Times),
        text.prop_map(Column::Texts),
    ]
}

fn axis(rows: usize) -> impl Strategy<Value = Axis> {
    (".{0,40}", column(rows)).prop_map(|(name, values)| Axis { name, values })
}

fn chart() -> impl Strategy<Value = Chart> {
    let kind = select(ChartKind::ALL.to_vec());
    (kind, select(vec![1, 2, 12, 90])).prop_flat_map(|(kind, rows)| {
        let optional = || option::weighted(0.8, axis(rows));
        let texts = (".{0,200}", option::of(".{0,200}"));
        (texts, axis(rows), optional(), optional()).prop_map(move |(texts, x, y, third)| {
            let (series, value) = match kind {
                ChartKind::Heatmap => (None, third),
                ChartKind::Bar | ChartKind::Line | ChartKind::Scatter => (third, None),
                ChartKind::Histogram => (None, None),
            };
            let y = y.filter(|_| kind != ChartKind::Histogram);
            let rows_are_sorted = false;
            Chart { kind, title: texts.0, subtitle: texts.1, x, y, series, value, rows_are_sorted }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn any_chart_is_legible_or_refused(chart in chart()) {
        if let Ok(drawing) = draw(&chart) {
            prop_assert!(roxmltree::Document::parse(drawing.svg()).is_ok());
            let numbers = drawing.svg().split("=\"").skip(1);
            prop_assert!(!numbers.into_iter().any(|text| text.starts_with("NaN")));
            prop_assert_eq!(faults(&drawing), Vec::<String>::new());
        }
    }
}

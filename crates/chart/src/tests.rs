//! Charts as a whole: each becomes XML and a picture, and the same ones every time.

mod any;
mod cases;
mod errors;
mod layout;

use cases::{cases, chart, numbers, texts, times};

use crate::{Chart, ChartError, ChartKind, Column, draw};

fn case(wanted: &str) -> Chart {
    cases().iter().find(|(name, _)| *name == wanted).unwrap().1.clone()
}

/// Returns what is written on a chart.
fn written(chart: &Chart) -> Vec<String> {
    let drawing = draw(chart).unwrap();
    let document = roxmltree::Document::parse(drawing.svg()).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name(SVG_TEXT));
    texts.map(|node| node.text().unwrap_or_default().to_owned()).collect()
}

const SVG_TEXT: (&str, &str) = ("http://www.w3.org/2000/svg", "text");

/// Set `FOREBAY_CHARTS` to a directory to look at them.
#[test]
fn every_case_is_xml_with_nothing_but_shapes_and_texts() {
    let directory = std::env::var_os("FOREBAY_CHARTS").map(std::path::PathBuf::from);
    for (name, chart) in cases() {
        let drawing = draw(chart).unwrap_or_else(|error| panic!("{name}: {error}"));
        let document = roxmltree::Document::parse(drawing.svg())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let known = ["svg", "title", "rect", "polyline", "circle", "text"];
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            assert!(known.contains(&node.tag_name().name()), "{name}: {node:?}");
        }
        assert!(!drawing.svg().contains("NaN") && !drawing.svg().contains("inf"), "{name}");
        if let Some(directory) = &directory {
            std::fs::create_dir_all(directory).unwrap();
            std::fs::write(directory.join(format!("{name}.svg")), drawing.svg()).unwrap();
            let png = drawing.png(usize::MAX).unwrap();
            std::fs::write(directory.join(format!("{name}.png")), png).unwrap();
        }
    }
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    let (once, again) = (draw(&case("bar-grouped")).unwrap(), draw(&case("bar-grouped")).unwrap());
    assert_eq!(once.svg(), again.svg());
    assert_eq!(once.png(usize::MAX).unwrap(), again.png(usize::MAX).unwrap());
}

#[test]
fn a_picture_shrinks_until_it_fits() {
    let width = |png: &[u8]| u32::from_be_bytes(png[16..20].try_into().unwrap());
    let drawing = draw(&case("bar-few")).unwrap();
    let full = drawing.png(usize::MAX).unwrap();
    let smaller = drawing.png(full.len() - 1).unwrap();
    assert_eq!((width(&full), width(&smaller)), (1920, 1440));
    assert!(smaller.len() < full.len());
    let error = drawing.png(100).unwrap_err();
    assert!(matches!(error, ChartError::TooLarge { max_bytes: 100 }));
}

#[test]
fn a_picture_shows_what_was_drawn() {
    let drawing = draw(&case("bar-one")).unwrap();
    let png = drawing.png(usize::MAX).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let colours: std::collections::BTreeMap<[u8; 3], usize> = pixels
        .as_chunks::<3>()
        .0
        .iter()
        .fold(std::collections::BTreeMap::new(), |mut all, pixel| {
            *all.entry(*pixel).or_default() += 1;
            all
        });
    // The bar is 96 wide and most of the page high, at twice the scale.
    assert!((100_000..200_000).contains(&colours[&[0x00, 0x72, 0xb2]]));
    assert!(colours.contains_key(&[0x1f, 0x24, 0x2b]), "the title");
}

#[test]
fn hostile_texts_are_written_as_texts_that_change_nothing() {
    let chart = case("bar-hostile");
    let written = written(&chart);
    assert!(written.contains(&"<script>alert(1)</script> & \"quotes\" desrever".to_owned()));
    assert!(written.contains(&"</text><script>alert(1)</script>".to_owned()));
    assert!(written.contains(&"ab c d".to_owned()));
    assert!(written.contains(&"(empty)".to_owned()));
    let drawing = draw(&chart).unwrap();
    let unseen = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
    assert!(!drawing.svg().contains(unseen));
}

#[test]
fn what_is_not_drawn_is_counted() {
    let says = |chart: &Chart, what: &str| {
        let written = written(chart);
        assert!(written.iter().any(|text| text.contains(what)), "{what} in {written:?}");
    };
    says(&case("bar-hundred"), "the 40 largest are shown, 60 more are not");
    says(&case("bar-stacked-days"), "3 more");
    says(&case("bar-stacked-days"), "bars are stacked");
    says(&case("line-fifteen-series"), "5 more");
    says(&case("heatmap-crowded"), "the 30 largest rows are shown, 15 more are not");
    let mut gaps = chart(
        ChartKind::Scatter,
        "",
        numbers("x", [1.0, 2.0, f64::NAN]),
        Some(numbers("y", [1.0, f64::INFINITY, 2.0])),
    );
    says(&gaps, "left out: 2 rows without a value");
    gaps.kind = ChartKind::Bar;
    says(&gaps, "left out: 1 row without y");
    gaps.kind = ChartKind::Line;
    says(&gaps, "left out: 1 row without x");
    says(&gaps, "left out: 1 row without y");
}

#[test]
fn rows_of_the_same_category_are_added_up_and_that_is_said() {
    let x = texts("name", ["a", "b", "a"]);
    let bars = chart(ChartKind::Bar, "", x, Some(numbers("kg", [1.0, 2.0, 4.0])));
    let written = written(&bars);
    assert!(written.contains(&"sum of kg".to_owned()));
    assert!(written.contains(&"5".to_owned()));
}

/// Returns the names below bars, or beside them, in their order.
fn names_of(chart: &Chart, known: &[&str]) -> Vec<String> {
    written(chart).into_iter().filter(|text| known.contains(&text.as_str())).collect()
}

#[test]
fn bars_are_sorted_by_value_unless_what_they_stand_for_has_an_order() {
    let bars = |names: [&str; 3]| {
        chart(ChartKind::Bar, "", texts("x", names), Some(numbers("y", [1.0, 3.0, 2.0])))
    };
    let cities = ["Oslo", "Rome", "Paris"];
    assert_eq!(names_of(&bars(cities), &cities), ["Rome", "Paris", "Oslo"]);
    let asked_for = Chart { rows_are_sorted: true, ..bars(cities) };
    assert_eq!(names_of(&asked_for, &cities), cities);
    let months = ["Mar", "Jan", "Feb"];
    assert_eq!(names_of(&bars(months), &months), ["Jan", "Feb", "Mar"]);
    let numbers = chart(
        ChartKind::Bar,
        "",
        numbers("x", [30.0, 10.0, 20.0]),
        Some(numbers("y", [1.0, 3.0, 5.0])),
    );
    assert_eq!(names_of(&numbers, &["10", "20", "30"]), ["10", "20", "30"]);
}

#[test]
fn bars_over_too_many_days_are_of_weeks_and_none_is_left_out() {
    let chart = case("bar-two-years");
    let drawing = draw(&chart).unwrap();
    assert_eq!(drawing.notes(), ["one bar per week"]);
    assert!(written(&chart).contains(&"sum of sales".to_owned()));
    let bars = drawing.svg().lines().filter(|line| line.contains("#0072b2")).count();
    assert_eq!(bars, 105);
    assert_eq!(draw(&case("bar-many-numbers")).unwrap().notes(), ["one bar per range of 5,000"]);
    assert_eq!(draw(&case("heatmap-long")).unwrap().notes(), ["one column per week"]);
}

#[test]
fn a_line_over_many_rows_is_that_of_their_means_and_says_so() {
    let of = |case_name: &str| {
        let chart = case(case_name);
        (draw(&chart).unwrap().notes().to_vec(), written(&chart))
    };
    let (notes, texts) = of("line-many-per-day");
    assert_eq!(notes, ["mean of 12 rows per date"]);
    assert!(texts.contains(&"mean of degrees".to_owned()));
    let (notes, _) = of("line-dense");
    assert!(
        notes[0].starts_with("mean of up to ") && notes[0].ends_with(" rows per hour"),
        "{notes:?}"
    );
    let (notes, _) = of("line-four-hundred");
    assert_eq!(notes[0], "the 100 largest lines are shown, 300 more are not");
    assert!(draw(&case("line-days")).unwrap().notes().is_empty());
}

#[test]
fn a_line_without_heights_counts_rows() {
    let days = [0, 1, 1, 1, 3, 3].map(|day| day * crate::times::DAY);
    let line = chart(ChartKind::Line, "", times("day", days), None);
    let drawing = draw(&line).unwrap();
    assert_eq!(drawing.notes(), Vec::<String>::new());
    assert!(written(&line).contains(&"number of rows".to_owned()));
    let document = roxmltree::Document::parse(drawing.svg()).unwrap();
    let dots = document.descendants().filter(|node| node.tag_name().name() == "circle");
    let heights: Vec<f64> = dots.map(|dot| dot.attribute("cy").unwrap().parse().unwrap()).collect();
    let [one, three, none, two] = heights[..] else { panic!("{heights:?}") };
    let unit = none - one;
    assert!(unit > 0.0, "a day without rows is at zero");
    assert!((none - two - 2.0 * unit).abs() < 1.0 && (none - three - 3.0 * unit).abs() < 1.0);

    assert_eq!(draw(&case("line-counted")).unwrap().notes(), ["one point per 2 hours"]);
    let of_texts = chart(ChartKind::Line, "", texts("name", ["a", "b", "a"]), None);
    assert!(written(&of_texts).contains(&"number of rows".to_owned()));
    let nothing = chart(ChartKind::Line, "", numbers("x", [f64::NAN]), None);
    let refusal = draw(&nothing).unwrap_err().to_string();
    assert!(refusal.starts_with("no row has a value in `x`"), "{refusal}");
}

#[test]
fn many_dots_are_merged_and_that_is_said() {
    let drawing = draw(&case("scatter-heaps")).unwrap();
    let said = "30,000 rows, those that lie together as one dot: the darker, the more";
    assert_eq!(drawing.notes(), [said]);
}

#[test]
fn no_file_is_long() {
    for (name, chart) in cases() {
        let length = draw(chart).unwrap().svg().len();
        assert!(length < 300_000, "{name}: {length} bytes");
    }
}

#[test]
fn a_line_is_interrupted_where_a_value_is_missing() {
    let lines = |y: Vec<Option<f64>>| {
        let x = times("t", (0..).map(|n| n * 1_000_000).take(y.len()));
        let mut chart = chart(ChartKind::Line, "", x, Some(numbers("y", [])));
        chart.y.as_mut().unwrap().values = Column::Numbers(y);
        let svg = draw(&chart).unwrap().svg().to_owned();
        let thick = svg.lines().filter(|line| line.contains("stroke-width=\"2\"")).count();
        (thick, svg.matches("<circle").count())
    };
    assert_eq!(lines(vec![Some(1.0), Some(2.0), Some(3.0), Some(4.0)]), (1, 4));
    assert_eq!(lines(vec![Some(1.0), Some(2.0), None, Some(3.0), Some(4.0)]), (2, 4));
    assert_eq!(lines(vec![Some(1.0), Some(2.0), Some(f64::NAN), Some(4.0)]), (1, 3));
}

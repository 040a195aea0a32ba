//! Charts as a whole: each becomes XML and a picture, and the same ones every time.

mod any;
mod cases;
mod errors;
mod layout;

use cases::{cases, chart, numbers, texts, times};

use crate::{Chart, ChartError, ChartKind, Column, draw};

fn case(wanted: &str) -> Chart {
    cases().into_iter().find(|(name, _)| *name == wanted).unwrap().1
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
        let drawing = draw(&chart).unwrap_or_else(|error| panic!("{name}: {error}"));
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
}

#[test]
fn rows_of_the_same_category_are_added_up_and_that_is_said() {
    let x = texts("name", ["a", "b", "a"]);
    let bars = chart(ChartKind::Bar, "", x, Some(numbers("kg", [1.0, 2.0, 4.0])));
    let written = written(&bars);
    assert!(written.contains(&"sum of kg".to_owned()));
    assert!(written.contains(&"5".to_owned()));
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

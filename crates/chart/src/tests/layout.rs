//! No text of any case overlaps another or leaves the page.

use crate::{
    Drawing, draw,
    font::{DESCENT, Fonts},
    scene::{Mark, Slant, Text},
    tests::cases::cases,
};

type Corners = [(f64, f64); 4];

/// Returns the corners of a text as it stands on the page.
fn corners(text: &Text, fonts: &Fonts) -> Corners {
    let area = text.area(fonts);
    // Letters rarely reach the full height; lines may stand as close as that.
    let (top, bottom) = (area.top + 0.5, area.bottom - DESCENT * text.size * 0.3);
    let level = [(area.left, top), (area.right, top), (area.right, bottom), (area.left, bottom)];
    let turn = match text.slant {
        Slant::Level => 0.0,
        Slant::Rising => -std::f64::consts::FRAC_PI_4,
    };
    level.map(|(x, y)| {
        let (x, y) = (x - text.x, y - text.y);
        let (sin, cos) = f64::sin_cos(turn);
        (text.x + x * cos - y * sin, text.y + x * sin + y * cos)
    })
}

/// Two convex shapes are apart if some edge of one has the other beyond it.
fn overlap(a: &Corners, b: &Corners) -> bool {
    let parted = |a: &Corners, b: &Corners| {
        (0..4).any(|edge| {
            let (from, to) = (a[edge], a[(edge + 1) % 4]);
            let outward = (to.1 - from.1, from.0 - to.0);
            let beyond =
                |(x, y): &(f64, f64)| (x - from.0) * outward.0 + (y - from.1) * outward.1 >= 0.0;
            b.iter().all(beyond)
        })
    };
    !parted(a, b) && !parted(b, a)
}

/// Returns what is wrong with the places of texts.
pub(super) fn faults(drawing: &Drawing) -> Vec<String> {
    let scene = drawing.scene();
    let texts: Vec<(&Text, Corners)> = scene
        .marks
        .iter()
        .filter_map(|mark| match mark {
            Mark::Text(text) => Some((text, corners(text, &scene.fonts))),
            Mark::Box { .. } | Mark::Line { .. } | Mark::Dot { .. } => None,
        })
        .collect();
    let on_page =
        |(x, y): &(f64, f64)| (0.0..=scene.width).contains(x) && (0.0..=scene.height).contains(y);
    let mut faults = Vec::new();
    for (index, (text, area)) in texts.iter().enumerate() {
        if !area.iter().all(on_page) {
            faults.push(format!("{:?} leaves the page", text.content));
        }
        for (other, other_area) in &texts[index + 1..] {
            if overlap(area, other_area) {
                faults.push(format!("{:?} overlaps {:?}", text.content, other.content));
            }
        }
    }
    faults
}

#[test]
fn no_text_overlaps_another_or_leaves_the_page() {
    for (name, chart) in cases() {
        assert_eq!(faults(&draw(chart).unwrap()), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn shapes_that_overlap_are_told_from_those_that_do_not() {
    let square = |x: f64, y: f64| [(x, y), (x + 2.0, y), (x + 2.0, y + 2.0), (x, y + 2.0)];
    let diamond = [(0.0, 1.6), (1.6, 0.0), (3.2, 1.6), (1.6, 3.2)];
    assert!(overlap(&square(0.0, 0.0), &square(1.0, 1.0)));
    assert!(!overlap(&square(0.0, 0.0), &square(2.5, 0.0)));
    assert!(overlap(&diamond, &square(1.0, 1.0)));
    assert!(!overlap(&diamond, &square(-1.7, -1.7)));
}

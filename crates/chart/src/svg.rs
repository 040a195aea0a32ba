//! Writes a scene as SVG.

use std::fmt::Write;

use crate::{
    font::{FAMILY, Weight},
    palette::Colour,
    scene::{Anchor, Mark, Scene, Slant, Text},
};

pub(crate) fn write(scene: &Scene) -> String {
    let (width, height) = (Number(scene.width), Number(scene.height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"'{FAMILY}', 'Open Sans', 'DejaVu Sans', Arial, sans-serif\">\n"
    );
    if !scene.title.is_empty() {
        push(&mut svg, format_args!("<title>{}</title>\n", Escaped(&scene.title)));
    }
    push(
        &mut svg,
        format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"),
    );
    for mark in &scene.marks {
        write_mark(&mut svg, scene, mark);
    }
    svg.push_str("</svg>\n");
    svg
}

fn write_mark(svg: &mut String, scene: &Scene, mark: &Mark) {
    match mark {
        Mark::Box { area, fill } => push(
            svg,
            format_args!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"/>\n",
                Number(area.left),
                Number(area.top),
                Number(area.width()),
                Number(area.height()),
            ),
        ),
        Mark::Line { points, colour, width } => {
            svg.push_str("<polyline points=\"");
            for (index, (x, y)) in points.iter().enumerate() {
                let space = if index == 0 { "" } else { " " };
                push(svg, format_args!("{space}{},{}", Number(*x), Number(*y)));
            }
            push(
                svg,
                format_args!(
                    "\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{}\" \
                     stroke-linejoin=\"round\"/>\n",
                    Number(*width)
                ),
            );
        }
        Mark::Dot { x, y, radius, fill, opacity } => push(
            svg,
            format_args!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\" fill-opacity=\"{}\"/>\n",
                Number(*x),
                Number(*y),
                Number(*radius),
                Number(*opacity),
            ),
        ),
        Mark::Text(text) => write_text(svg, scene, text),
    }
}

/// Writes a text with its length, so that it keeps its room in a viewer that has another font.
fn write_text(svg: &mut String, scene: &Scene, text: &Text) {
    let (x, y) = (Number(text.x), Number(text.y));
    push(
        svg,
        format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\" textLength=\"{}\" \
             lengthAdjust=\"spacingAndGlyphs\"",
            Number(text.size),
            text.colour,
            Number(text.width(&scene.fonts)),
        ),
    );
    svg.push_str(match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    });
    svg.push_str(match text.weight {
        Weight::Regular => "",
        Weight::Bold => " font-weight=\"bold\"",
    });
    if text.slant == Slant::Rising {
        push(svg, format_args!(" transform=\"rotate(-45 {x} {y})\""));
    }
    push(svg, format_args!(">{}</text>\n", Escaped(&text.content)));
}

fn push(svg: &mut String, what: std::fmt::Arguments<'_>) {
    // A String takes everything.
    let _ = svg.write_fmt(what);
}

/// A number with at most two decimals; more cannot be seen.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        formatter.write_str(if text == "-0" { "0" } else { text })
    }
}

/// A text as it may stand between tags. What XML forbids altogether is gone already: see
/// [`crate::texts`].
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '<' => formatter.write_str("&lt;"),
                '>' => formatter.write_str("&gt;"),
                '&' => formatter.write_str("&amp;"),
                '"' => formatter.write_str("&quot;"),
                '\'' => formatter.write_str("&#39;"),
                _ => formatter.write_char(letter),
            }?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Colour {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

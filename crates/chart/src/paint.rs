//! Paints a scene as PNG.

use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform,
};
use ttf_parser::OutlineBuilder;

use crate::{
    ChartError,
    font::Fonts,
    palette::Colour,
    scene::{Mark, Scene, Slant, Text},
};

/// Paints `scene` with `scale` pixels to each of its units; `None` if there is no memory for it.
pub(crate) fn png(scene: &Scene, scale: f64) -> Result<Option<Vec<u8>>, ChartError> {
    let (width, height) = ((scene.width * scale) as u32, (scene.height * scale) as u32);
    let Some(mut pixmap) = Pixmap::new(width, height) else {
        return Ok(None);
    };
    pixmap.fill(Color::WHITE);
    let transform = Transform::from_scale(scale as f32, scale as f32);
    for mark in &scene.marks {
        paint(&mut pixmap, &scene.fonts, mark, transform);
    }
    encode(&pixmap).map(Some).map_err(ChartError::Encoding)
}

fn paint(pixmap: &mut Pixmap, fonts: &Fonts, mark: &Mark, transform: Transform) {
    match mark {
        Mark::Box { area, fill } => {
            let edges = [area.left, area.top, area.right, area.bottom].map(|edge| edge as f32);
            if let Some(area) = Rect::from_ltrb(edges[0], edges[1], edges[2], edges[3]) {
                pixmap.fill_rect(area, &solid(*fill, 1.0), transform, None);
            }
        }
        Mark::Line { points, colour, width } => {
            let mut line = PathBuilder::new();
            for (index, (x, y)) in points.iter().enumerate() {
                match index {
                    0 => line.move_to(*x as f32, *y as f32),
                    _ => line.line_to(*x as f32, *y as f32),
                }
            }
            let stroke =
                Stroke { width: *width as f32, line_join: LineJoin::Round, ..Stroke::default() };
            if let Some(line) = line.finish() {
                pixmap.stroke_path(&line, &solid(*colour, 1.0), &stroke, transform, None);
            }
        }
        Mark::Dot { x, y, radius, fill, opacity } => {
            let dot = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32);
            fill_path(pixmap, dot, &solid(*fill, *opacity), transform);
        }
        Mark::Text(text) => {
            let turn = match text.slant {
                Slant::Level => transform,
                Slant::Rising => transform.pre_concat(Transform::from_rotate_at(
                    -45.0,
                    text.x as f32,
                    text.y as f32,
                )),
            };
            fill_path(pixmap, outline(fonts, text), &solid(text.colour, 1.0), turn);
        }
    }
}

fn fill_path(pixmap: &mut Pixmap, path: Option<Path>, paint: &Paint<'_>, transform: Transform) {
    if let Some(path) = path {
        pixmap.fill_path(&path, paint, FillRule::Winding, transform, None);
    }
}

fn solid(Colour(red, green, blue): Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint
}

/// Returns the letters of `text` at their places, as one path.
fn outline(fonts: &Fonts, text: &Text) -> Option<Path> {
    let mut pen = Pen {
        path: PathBuilder::new(),
        x: text.start(fonts) as f32,
        y: text.y as f32,
        scale: (text.size / fonts.units(text.weight)) as f32,
    };
    for letter in text.content.chars() {
        fonts.outline(letter, text.weight, &mut pen);
        pen.x += (fonts.advance(letter, text.weight) * text.size) as f32;
    }
    pen.path.finish()
}

/// Draws outlines, which are given in the font's units with y upwards, on the page.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.place(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.place(x1, y1), self.place(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2)) = (self.place(x1, y1), self.place(x2, y2));
        let (x, y) = self.place(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// Encodes without transparency: the page is white everywhere.
fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let pixels: Vec<u8> = pixmap
        .pixels()
        .iter()
        .flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()])
        .collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    // Filters are made for photographs: flat colours become larger with them.
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(bytes)
}

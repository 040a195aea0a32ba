//! A chart that has been drawn, in the two forms in which it leaves.

use crate::{ChartError, paint, scene::Scene, svg};

/// Pixels to each unit of the page, the best first.
const SCALES: [f64; 5] = [2.0, 1.5, 1.0, 0.75, 0.5];

/// A chart that has been drawn.
#[derive(Debug)]
pub struct Drawing {
    svg: String,
    scene: Scene,
}

impl Drawing {
    pub(crate) fn of(scene: Scene) -> Self {
        Self { svg: svg::write(&scene), scene }
    }

    /// Returns the chart as SVG.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Returns what the chart says of itself: what it does not show, or not as one may expect.
    pub fn notes(&self) -> &[String] {
        &self.scene.notes
    }

    /// Paints the chart as PNG, as large as `max_bytes` allow.
    pub fn png(&self, max_bytes: usize) -> Result<Vec<u8>, ChartError> {
        for scale in SCALES {
            match paint::png(&self.scene, scale)? {
                Some(png) if png.len() <= max_bytes => return Ok(png),
                Some(_) | None => {}
            }
        }
        Err(ChartError::TooLarge { max_bytes })
    }

    #[cfg(test)]
    pub(crate) fn scene(&self) -> &Scene {
        &self.scene
    }
}

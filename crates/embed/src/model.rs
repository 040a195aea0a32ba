//! The model: all-MiniLM-L6-v2, which makes a vector of a sentence or a paragraph.
//!
//! What it gives for each piece of a text is averaged, and the average made one long. Texts go through it one
//! by one: together they would have to be filled up to one length.

use std::{fmt, sync::Arc};

use rten::{
    Model as Network, ModelOptions, NodeId, OpRegistry, RunOptions, ThreadPool, Value, op_registry,
};

use crate::{EmbedError, tokenize};

/// Whose vectors those of this program are.
pub const MODEL: &str = "all-MiniLM-L6-v2-int8";

/// How many numbers a vector of this program has.
pub const DIMENSIONS: usize = 384;

#[cfg(model_inside)]
static WEIGHTS: Option<&[u8]> = Some(include_bytes!(env!("FOREBAY_EMBEDDING_MODEL")));
#[cfg(not(model_inside))]
static WEIGHTS: Option<&[u8]> = None;

/// True if the model is part of this program.
pub(crate) const fn is_inside() -> bool {
    cfg!(model_inside)
}

/// The model, loaded.
pub(crate) struct Model {
    network: Network,
    threads: Arc<ThreadPool>,
    /// The numbers of the pieces.
    pieces: NodeId,
    /// Which of them are there.
    mask: NodeId,
    /// Which sentence they are of.
    kinds: NodeId,
    output: NodeId,
}

impl Model {
    /// Loads the model, and starts the threads that it will run on.
    pub(crate) fn load(threads: usize) -> Result<Self, EmbedError> {
        let weights = WEIGHTS.ok_or(EmbedError::NotInside)?;
        // The weights are laid out for computing once: a question takes half the time then, for 40 MB.
        let network = ModelOptions::with_ops(operators())
            .prepack_weights(true)
            .load_static_slice(weights)
            .map_err(failed)?;
        let threads = Arc::new(ThreadPool::with_num_threads(threads));
        Ok(Self {
            pieces: network.node_id("input_ids").map_err(failed)?,
            mask: network.node_id("attention_mask").map_err(failed)?,
            kinds: network.node_id("token_type_ids").map_err(failed)?,
            output: network.node_id("last_hidden_state").map_err(failed)?,
            network,
            threads,
        })
    }

    /// The vector of a text.
    pub(crate) fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let tokens: Vec<i32> = tokenize::tokens(text).into_iter().map(i32::from).collect();
        let shape = [1, tokens.len()];
        let value = |numbers| Value::from_shape(shape.as_slice(), numbers).map_err(failed);
        let all = |number: i32| value(vec![number; tokens.len()]);
        let inputs = vec![
            (self.mask, all(1)?.into()),
            (self.kinds, all(0)?.into()),
            (self.pieces, value(tokens.clone())?.into()),
        ];
        let options = RunOptions::default().with_thread_pool(Some(self.threads.clone()));
        let [states] = self.network.run_n(inputs, [self.output], Some(options)).map_err(failed)?;
        let (_, states) = states.into_shape_vec::<f32, 3>().map_err(failed)?;
        average(&states).ok_or_else(|| EmbedError::Model("its vector has no length".to_owned()))
    }
}

/// What the model is made of: what is not named here is not part of the program.
fn operators() -> OpRegistry {
    op_registry!(
        Add,
        And,
        Cast,
        Concat,
        Div,
        Erf,
        Expand,
        Gather,
        GatherND,
        GreaterOrEqual,
        IsNaN,
        LayerNormalization,
        MatMul,
        Max,
        Mul,
        Range,
        Reshape,
        Shape,
        Slice,
        Softmax,
        Squeeze,
        Transpose,
        Unsqueeze,
        Where
    )
}

/// The average of the states, one long.
fn average(states: &[f32]) -> Option<Vec<f32>> {
    let mut sum = vec![0.0; DIMENSIONS];
    for state in states.chunks_exact(DIMENSIONS) {
        for (sum, number) in sum.iter_mut().zip(state) {
            *sum += number;
        }
    }
    normalized(sum)
}

/// A vector made one long; `None` if it has no length.
pub(crate) fn normalized(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    if !length.is_normal() {
        return None;
    }
    for number in &mut vector {
        #[expect(clippy::cast_possible_truncation, reason = "it is one at most")]
        let shortened = (f64::from(*number) / length) as f32;
        *number = shortened;
    }
    Some(vector)
}

fn failed(error: impl fmt::Display) -> EmbedError {
    EmbedError::Model(error.to_string())
}

#[cfg(test)]
mod tests;

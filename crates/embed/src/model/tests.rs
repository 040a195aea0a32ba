use std::io::{self, Write as _};

use serde::Deserialize;

use super::*;

/// What ONNX Runtime makes of a text with the same weights: the first numbers of its vector, and its cosine
/// with each of the others.
#[derive(Deserialize)]
struct Reference {
    text: String,
    first: Vec<f32>,
    cosines: Vec<f32>,
}

fn references() -> Vec<Reference> {
    let lines = include_str!("reference.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether the program that is tested has a model. Where it must have one, it is a failure that it has not.
fn is_inside() -> bool {
    if !super::is_inside() {
        let must = std::env::var("FOREBAY_TEST_PEERS").is_ok_and(|value| value == "required");
        assert!(!must, "the program was built without its embedding model");
        let _ = writeln!(
            io::stderr(),
            "SKIPPED: needs the embedding model, which pip fetches for the build"
        );
    }
    super::is_inside()
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[test]
fn vectors_are_those_of_onnx_runtime() {
    if !is_inside() {
        return;
    }
    let model = Model::load(2).unwrap();
    let references = references();
    assert!(references.len() >= 10, "{}", references.len());
    let vectors: Vec<Vec<f32>> =
        references.iter().map(|reference| model.vector(&reference.text).unwrap()).collect();
    for (reference, vector) in references.iter().zip(&vectors) {
        assert_eq!(vector.len(), DIMENSIONS);
        for (number, expected) in vector.iter().zip(&reference.first) {
            assert!((number - expected).abs() < 1e-4, "{:?}: {number} {expected}", reference.text);
        }
        for (other, expected) in vectors.iter().zip(&reference.cosines) {
            let cosine = cosine(vector, other);
            assert!((cosine - expected).abs() < 1e-4, "{:?}: {cosine} {expected}", reference.text);
        }
    }
}

#[test]
fn what_means_the_same_is_nearer_than_what_does_not() {
    if !is_inside() {
        return;
    }
    let model = Model::load(1).unwrap();
    let near = |question: &str, answer: &str, other: &str| {
        let [question, answer, other] =
            [question, answer, other].map(|text| model.vector(text).unwrap());
        let (right, wrong) = (cosine(&question, &answer), cosine(&question, &other));
        assert!(right > wrong + 0.1, "{right} {wrong}");
    };
    near("no space left on device", "the disk is full", "the device left the space station");
    near("login problems", "401 Unauthorized: bad credentials", "the river flooded the valley");
    near(
        "which customers stopped paying",
        "subscriptions cancelled by users",
        "GPU temperature log",
    );
}

#[test]
fn a_vector_without_length_is_none() {
    assert_eq!(normalized(vec![0.0; 4]), None);
    assert_eq!(normalized(vec![f32::NAN, 1.0]), None);
    assert_eq!(normalized(vec![f32::INFINITY, 1.0]), None);
    assert_eq!(normalized(vec![3.0, 4.0]), Some(vec![0.6, 0.8]));
}

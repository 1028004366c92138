//! Tagging: files, labels, rules, scores.

mod attributes;
mod columns;
mod label_properties;
mod packed;
mod rules;
mod score;
mod segments;
mod states;
mod stored_states;

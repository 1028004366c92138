//! Output of flows: tables, a summary and pictures. Nothing here opens a file.

mod learning;
mod lines;
mod number;
mod picture;
mod stream;
mod summary;
mod tables;

pub use learning::{Errors, LearnedWeight, Learning, Tried, Tuned, tuning_picture, write_tuning};
pub use lines::Lines;
pub use number::{for_people, individuals, rounded};
pub use picture::Picture;
pub use stream::{Kept, Move, Movements, stream};
pub use summary::{Summary, TimeFit};
pub use tables::{
    move_columns, transitions, write_counts, write_fit, write_moves, write_net, write_routes,
    write_transitions,
};

//! Templates: sandboxed, typed expressions.
//!
//! A value is a literal, or a text with `{{ expression }}` in it. A text that is one expression keeps the
//! expression's type: a list stays a list and `false` stays false. There are no statements and no loops, unknown
//! names are errors, and time and memory are bounded: fuel for the steps, a cap on what filters and operators can
//! make, and a cap on the result.

pub mod context;
pub mod expression;
mod filters;
#[cfg(test)]
mod limit_tests;
pub mod render;
mod value;

pub use context::Context;
pub use expression::{Compiled, ExpressionError, Path, compile};
pub use render::{
    RenderError, check_text, expressions_in, has_expression, render, render_encoded, render_members, truth,
};

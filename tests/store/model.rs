//! Placeholder for model.

//! Input made to hurt: whatever the bytes are, the answer is a value or an
//! error, after work and memory in proportion to the input.

mod binary;
mod typed;
mod unions;

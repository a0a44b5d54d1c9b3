//! What a value may be: types, dynamic values, validation and pruning.

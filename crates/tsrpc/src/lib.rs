//! TSRPC service protos, envelopes and sessions, without I/O.

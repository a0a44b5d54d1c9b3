//! The polywire server: listeners, connections, flows.

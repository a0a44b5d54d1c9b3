extern crate self as polywire;
pub use polywire_tsbuffer::__private;

use polywire_macros::{Api, Message};

#[derive(Api)]
struct WithoutResponse {
    content: String,
}

#[derive(Api)]
#[api(respnse = ())]
struct WithTypo;

#[derive(Api)]
#[api(response = (), name = "/user/Login")]
struct WithSlashInFront;

#[derive(Message)]
#[message(name = "chat.v1")]
struct WithDot;

#[derive(Message)]
struct Generic<T> {
    content: T,
}

#[derive(Message)]
#[message(response = ())]
struct AnsweredMessage;

#[derive(Api)]
#[api(response = (), conf = { "needLogin": yes })]
struct WithConfThatIsNoJson;

#[derive(Api)]
#[api(response = std::time::Instant)]
struct WithResponseWithoutSchema;

#[derive(Api)]
#[api(response = (), conf = { "needLogin" true })]
struct WithConfWithoutColon;

#[derive(Api)]
#[api(response = (), conf = { "roles": [1 2] })]
struct WithConfWithoutComma;

#[derive(Api)]
#[api(response = (), conf = { "least": -"x" })]
struct WithConfOfMinusText;

fn main() {}

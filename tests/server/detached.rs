//! Calls whose handlers have ended and moved them elsewhere: they count as in
//! flight and they time out, like all others.

use std::time::Duration;

use polywire_schema::Value;
use polywire_server::{Call, Dynamic, Server, ServerOptions};
use polywire_tests::raw::client_frame;
use tokio::sync::mpsc;

use crate::support::{hear, options, proto, say, start, text};

/// When a handler hands its call over.
#[derive(Debug, Clone, Copy)]
enum HandOver {
    AtOnce,
    AfterAWait,
}

/// A server whose `Add` hands its calls to the test.
fn handing(when: HandOver, options: ServerOptions) -> (Server, mpsc::UnboundedReceiver<Call<Dynamic>>) {
    let (hand_over, handed) = mpsc::unbounded_channel();
    let server = Server::with_options(options).proto(proto()).api_named("Add", move |call: Call<Dynamic>| {
        let hand_over = hand_over.clone();
        async move {
            if matches!(when, HandOver::AfterAWait) {
                tokio::task::yield_now().await;
            }
            hand_over.send(call).unwrap_or_else(|_| panic!("the test lives"));
        }
    });
    (server, handed)
}

fn sum(sum: f64) -> Dynamic {
    Dynamic(Value::Object([("sum", Value::Number(sum))].into_iter().collect()))
}

#[tokio::test]
async fn they_count_as_in_flight_until_they_are_answered() {
    for when in [HandOver::AtOnce, HandOver::AfterAWait] {
        for api_timeout in [None, Some(Duration::from_secs(3600))] {
            let mut options = ServerOptions { api_timeout, ..options() };
            options.limits.calls_in_flight = 3;
            let (server, mut handed) = handing(when, options);
            let address = start(&server).await;
            let mut raw = text(&address).await;
            let calls: Vec<u8> =
                (1..=8).flat_map(|sn| client_frame(1, format!(r#"["Add",{{"a":1,"b":0}},{sn}]"#).as_bytes())).collect();
            raw.write(&calls).await;
            let mut kept = Vec::new();
            for _ in 0..3 {
                kept.push(handed.recv().await.expect("a call"));
            }
            for sn in 1..=8 {
                assert!(handed.try_recv().is_err(), "{when:?}: no more than three at a time");
                let call = kept.remove(0);
                // Answered, it may be kept for ever.
                call.succeed(sum(1.0));
                assert_eq!(hear(&mut raw).await, format!(r#"["Add",{{"isSucc":true,"res":{{"sum":1}}}},{sn}]"#));
                if sn <= 5 {
                    kept.push(handed.recv().await.expect("the next call"));
                }
                std::mem::forget(call);
            }
            raw.send_frame(9, b"done").await;
            assert_eq!(hear(&mut raw).await, "done");
        }
    }
}

#[tokio::test]
async fn they_time_out_whenever_they_were_handed_over() {
    for when in [HandOver::AtOnce, HandOver::AfterAWait] {
        let options = ServerOptions { api_timeout: Some(Duration::from_millis(50)), ..options() };
        let (server, mut handed) = handing(when, options);
        let address = start(&server).await;
        let mut raw = text(&address).await;
        say(&mut raw, r#"["Add",{"a":1,"b":0},1]"#).await;
        let kept = handed.recv().await.expect("the call");
        let answer = hear(&mut raw).await;
        assert!(answer.contains("SERVER_TIMEOUT"), "{when:?}: {answer}");
        drop(kept);
        server.stop().await;
    }
}

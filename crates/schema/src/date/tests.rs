use super::*;

fn check(text: &str, expected: &str) {
    let found = iso_text(parse_date(text)).unwrap_or_else(|| "invalid".to_owned());
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn iso_forms_are_read_exactly() {
    check("2020-02-29T12:34:56.789Z", "2020-02-29T12:34:56.789Z");
    check("2020", "2020-01-01T00:00:00.000Z");
    check("2020-06", "2020-06-01T00:00:00.000Z");
    check("2020-06-15", "2020-06-15T00:00:00.000Z");
    check("2020-02-31", "2020-03-02T00:00:00.000Z");
    check("2020-06-15T01:02Z", "2020-06-15T01:02:00.000Z");
    check("2020-06-15T01:02:03.4567Z", "2020-06-15T01:02:03.456Z");
    check("2020-06-15T01:02:03.4Z", "2020-06-15T01:02:03.400Z");
    check("2020-06-15T12:00:00+08:00", "2020-06-15T04:00:00.000Z");
    check("2020-06-15T12:00:00-0330", "2020-06-15T15:30:00.000Z");
    check("2020-06-15T24:00Z", "2020-06-16T00:00:00.000Z");
    check("+010000-01-01T00:00:00.000Z", "+010000-01-01T00:00:00.000Z");
    check("-000001-01-01T00:00:00Z", "-000001-01-01T00:00:00.000Z");
    check("+275760-09-13T00:00:00.000Z", "+275760-09-13T00:00:00.000Z");
    check("-271821-04-20T00:00:00.000Z", "-271821-04-20T00:00:00.000Z");
    check("0000-01-01", "0000-01-01T00:00:00.000Z");
}

#[test]
fn what_is_no_date_is_invalid() {
    for text in [
        "",
        "hello",
        "2020-13-01",
        "2020-06-15T25:00Z",
        "2020-06-15T24:00:01Z",
        "2020-06-15T12:60Z",
        "2020-06-15T12Z",
        "2020-06-15T12:00:00+24:00",
        "2020-06-15T12:00 x",
        "-000000-01-01T00:00:00Z",
        "+275760-09-13T00:00:00.001Z",
        "-271821-04-19T23:59:59.999Z",
        "Feb",
        "1/2/3/4",
        "32/13/2000",
        "12:00",
    ] {
        check(text, "invalid");
    }
}

#[test]
fn forms_of_older_standards_are_read_as_v8_does() {
    check("Mon, 01 Jan 2024 00:00:00 GMT", "2024-01-01T00:00:00.000Z");
    check("Mon, 01 Jan 2024 01:02:03 +0100", "2024-01-01T00:02:03.000Z");
    check("Mon Jan 01 2024 10:00:00 GMT+0200 (Central European Time)", "2024-01-01T08:00:00.000Z");
    check("Jan 1, 2020 3:04 pm UTC", "2020-01-01T15:04:00.000Z");
    check("1 January 2020 12:00 am z", "2020-01-01T00:00:00.000Z");
    check("2020/01/02 03:04 GMT", "2020-01-02T03:04:00.000Z");
    check("1/2/2020 GMT", "2020-01-02T00:00:00.000Z");
    check("1/2/49 GMT", "2049-01-02T00:00:00.000Z");
    check("1/2/50 GMT", "1950-01-02T00:00:00.000Z");
    check("Thu Jan 1 1970 00:00:00 PST", "1970-01-01T08:00:00.000Z");
    check("(comment) 2020-1-2 03:04:05.6 utc", "2020-01-02T03:04:05.600Z");
    check("2 feb z", "2001-02-02T00:00:00.000Z");
    check("60020 1 z", "+060020-01-01T00:00:00.000Z");
    check("0 z", "2000-01-01T00:00:00.000Z");
    check("2020-01-01 10:00:00Z", "2020-01-01T10:00:00.000Z");
}

#[test]
fn numbers_are_cut_to_times() {
    let cases = [(0.0, 0.0), (-0.9, 0.0), (1.9, 1.0), (-1.9, -1.0), (8.64e15, 8.64e15), (-8.64e15, -8.64e15)];
    for (number, expected) in cases {
        assert_eq!(time_clip(number).to_bits(), f64::to_bits(expected), "{number}");
    }
    for number in [8.64e15 + 1.0, f64::NAN, f64::INFINITY, -1e20] {
        assert!(time_clip(number).is_nan(), "{number}");
    }
}

#[test]
fn writing_and_reading_a_time_gives_it_back() {
    // A stride of odd length hits every hour, month and leap rule sooner or later.
    let stride = 86_400_000.0 * 1_234_567.0 + 12_345_678.9;
    let limit = DateTime::MAX.unix_millis() as f64;
    let mut ms = -limit;
    while ms <= limit {
        let text = iso_text(ms).expect("in range");
        assert_eq!(parse_date(&text), ms.trunc(), "{text}");
        ms += stride / 1000.0;
    }
}

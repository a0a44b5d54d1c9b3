extern crate self as polywire;
pub use polywire_tsbuffer::__private;

use polywire_macros::Schema;

#[derive(Schema)]
enum Empty {}

#[derive(Schema)]
#[schema(numeric)]
enum NumericWithData {
    Text(String),
}

#[derive(Schema)]
#[schema(string)]
#[repr(u8)]
enum NumericAndString {
    One,
}

#[derive(Schema)]
enum SameLiteral {
    #[schema(value = 1)]
    One,
    #[schema(value = 1)]
    Uno,
}

#[derive(Schema)]
enum ValueThatIsNoLiteral {
    #[schema(value = [1])]
    One,
}

#[derive(Schema)]
#[schema(string)]
enum EnumOfBooleans {
    #[schema(value = true)]
    Yes,
}

#[derive(Schema)]
#[schema(intersection)]
enum IntersectionOfLiterals {
    One,
}

fn main() {}

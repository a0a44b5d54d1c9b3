/** A line that someone said. */
export interface MsgChat {
    content: string,
    time: Date
}

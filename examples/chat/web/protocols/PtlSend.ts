/** Says a line to everyone. */
export interface ReqSend {
    content: string
}

export interface ResSend {
    time: Date
}

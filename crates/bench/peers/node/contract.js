// From the text of a call to the texts of its reply and of the message that it brings about.
'use strict';

const Ajv = require('ajv');

/** Gives `(text, broadcast) => ({reply, chat})`; a request that breaks its type is answered with an error. */
exports.compile = () => {
    const isSend = new Ajv().compile({
        type: 'object',
        properties: { content: { type: 'string' } },
        required: ['content'],
        additionalProperties: false,
    });
    return (text, broadcast) => {
        const [name, request, sn] = JSON.parse(text);
        if (name !== 'Send' || !isSend(request)) {
            return { reply: JSON.stringify([name, { isSucc: false, err: { message: 'Bad request' } }, sn]) };
        }
        const time = new Date();
        return {
            reply: JSON.stringify(['Send', { isSucc: true, res: { time } }, sn]),
            chat: broadcast ? JSON.stringify(['Chat', { content: request.content, time }]) : undefined,
        };
    };
};

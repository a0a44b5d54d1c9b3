// The chat page: says lines to everyone, shows what everyone says.

import { createClient, keepConnected, type State } from './connection';
import { Log } from './log';

const find = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;

const status = find('status');
const error = find('error');
const form = find<HTMLFormElement>('say');
const content = find<HTMLTextAreaElement>('content');
const log = new Log(find('log'), find('latest'));

const client = createClient();

client.listenMsg('Chat', (line) => {
  find('empty').hidden = true;
  log.add(line);
});

async function say(text: string): Promise<void> {
  const ret = await client.callApi('Send', { content: text });
  if (!ret.isSucc) return refuse(ret.err.message);
  refuse('');
  log.own({ content: text, time: ret.res.time });
  if (content.value === text) content.value = '';
}

function refuse(message: string): void {
  error.textContent = message;
  error.hidden = message === '';
  content.setAttribute('aria-invalid', String(message !== ''));
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  content.focus();
  void say(content.value);
});

content.addEventListener('keydown', (event) => {
  // Enter that ends the composition of a character sends nothing.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

content.addEventListener('input', () => refuse(''));

const STATES: Record<State, string> = {
  connecting: 'Connecting…',
  connected: 'Connected',
  lost: 'Not connected, trying again…',
};

keepConnected(client, (now, before) => {
  status.textContent = STATES[now];
  status.dataset.state = now;
  if (before === 'lost') {
    refuse('');
    log.note('Connected again. What was said in between is not shown.');
  }
});

// The chat page in a real browser: two tabs talk to each other.

import { join } from 'node:path';
import { createRequire } from 'node:module';
import { errorsOf } from '../browser.mjs';
import { ensure, same, until } from '../expect.mjs';
import { startProxy } from '../proxy.mjs';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

const SIZES = { narrow: { width: 390, height: 780 }, wide: { width: 1280, height: 800 } };
const SCHEMES = ['light', 'dark'];

/** Opens tabs on the chat page at `url` and runs `check(name, body)` for each thing that must hold. */
export async function chat({ browser, url, screenshots, check }) {
  const proxy = await startProxy(url);
  const context = await browser.newContext({ viewport: SIZES.wide, colorScheme: 'light' });
  const [ann, bob] = [await open(context, proxy.url), await open(context, `${proxy.url}/?json`)];

  await check('chat: both tabs connect', async () => {
    await ann.state('connected');
    await bob.state('connected');
    await shoot(ann.page, screenshots, 'empty');
  });

  await check('chat: a line is seen in both tabs, as one\'s own and as someone\'s', async () => {
    await ann.say('Hello from the first tab');
    same(await ann.last(), { who: 'You', text: 'Hello from the first tab' });
    same(await bob.last(), { who: 'Someone', text: 'Hello from the first tab' });
  });

  await check('chat: and the other way round, by the button', async () => {
    await bob.say('And hello back', { button: true });
    same(await bob.last(), { who: 'You', text: 'And hello back' });
    same(await ann.last(), { who: 'Someone', text: 'And hello back' });
  });

  await check('chat: any text, and nothing in it is markup', async () => {
    for (const text of ['中文 😀 ñ שלום', '<b>bold</b><img src=x onerror=alert(1)>', '"quotes" & \\ back', 'wide'.repeat(60)]) {
      await ann.say(text);
      await until(async () => (await bob.texts()).at(-1) === text, `the line ${text}`);
      same((await ann.last()).text, text);
    }
  });

  await check('chat: Shift+Enter makes a second line', async () => {
    await ann.page.locator('#content').pressSequentially('one');
    await ann.page.keyboard.press('Shift+Enter');
    await ann.page.keyboard.type('two');
    await ann.send();
    same(await ann.last(), { who: 'You', text: 'one\ntwo' });
  });

  await check('chat: the server refuses an empty line, and the page says so', async () => {
    const before = await ann.count();
    await ann.page.locator('#content').press('Enter');
    const alert = ann.page.getByRole('alert');
    await alert.waitFor({ state: 'visible' });
    ensure((await alert.textContent()).trim() !== '', 'an empty error');
    same(await ann.count(), before, 'lines');
    await shoot(ann.page, screenshots, 'empty-line-refused');
    await ann.page.locator('#content').pressSequentially('x');
    await alert.waitFor({ state: 'hidden' });
    await ann.page.locator('#content').fill('');
  });

  await check('chat: forty lines from both tabs come in one order', async () => {
    const start = await ann.count();
    for (let i = 0; i < 20; i += 1) await Promise.all([ann.say(`ann ${i}`), bob.say(`bob ${i}`)]);
    for (const tab of [ann, bob]) await until(async () => (await tab.count()) >= start + 40, 'all lines');
    same(await ann.texts(), await bob.texts(), 'order');
    same(new Set((await ann.texts()).slice(start)).size, 40, 'lines');
  });

  await check('chat: a tab that comes later shows what is said from then on', async () => {
    const late = await open(context, proxy.url);
    await late.state('connected');
    same(await late.count(), 0);
    await ann.say('for the newcomer');
    await until(async () => (await late.count()) === 1, 'the line');
    same(await late.last(), { who: 'Someone', text: 'for the newcomer' });
    same(late.errors, [], 'errors');
    await late.page.close();
  });

  await check('chat: accessible in both colour schemes', async () => {
    await ann.page.addScriptTag({ path: AXE });
    for (const colorScheme of SCHEMES) {
      await ann.page.emulateMedia({ colorScheme });
      const { violations } = await ann.page.evaluate(() => globalThis.axe.run());
      same(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target).join(', ')}`), [], colorScheme);
    }
  });

  await check('chat: fits a narrow and a wide window', async () => {
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const colorScheme of SCHEMES) {
        await ann.page.setViewportSize(viewport);
        await ann.page.emulateMedia({ colorScheme });
        const width = await ann.page.evaluate(() => document.documentElement.scrollWidth);
        ensure(width <= viewport.width, `${size}: ${width} px wide`);
        await shoot(ann.page, screenshots, `${size}-${colorScheme}`);
      }
    }
  });

  await check('chat: no errors in either console', async () => same([...ann.errors, ...bob.errors], []));

  await check('chat: tells when the server is gone, connects when it is back', async () => {
    await proxy.cut();
    await ann.state('lost');
    await ann.page.locator('#content').fill('said too early');
    await ann.page.keyboard.press('Enter');
    await ann.page.getByRole('alert').filter({ hasText: 'not connected' }).waitFor();
    same(await ann.page.locator('#content').inputValue(), 'said too early', 'the unsent line');
    await shoot(ann.page, screenshots, 'server-gone');
    await proxy.restore();
    await ann.state('connected');
    await bob.state('connected');
    await ann.send();
    await bob.page.locator('.line p', { hasText: 'said too early' }).waitFor();
    same((await ann.last()).who, 'You');
  });

  await context.close();
  await proxy.stop();
}

/** One tab and what a person does in it. */
async function open(context, url) {
  const page = await context.newPage();
  page.setDefaultTimeout(8_000);
  const errors = errorsOf(page);
  await page.goto(url);
  const field = page.locator('#content');
  // Looked at from here: a page in the background runs its own timers late.
  const sent = () => until(async () => (await field.inputValue()) === '', 'the answer to Send');
  return {
    page,
    errors,
    state: (is) => page.locator(`#status[data-state="${is}"]`).waitFor(),
    count: () => page.locator('.line').count(),
    texts: () => page.locator('.line p').allTextContents(),
    last: async () => {
      const line = page.locator('.line').last();
      return { who: await line.locator('.who').textContent(), text: await line.locator('p').textContent() };
    },
    send: async () => {
      await field.press('Enter');
      await sent();
    },
    say: async (text, { button = false } = {}) => {
      await field.fill(text);
      if (button) await page.getByRole('button', { name: 'Send' }).click();
      else await field.press('Enter');
      await sent();
    },
  };
}

async function shoot(page, folder, name) {
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}

// The list of what was said.

/** Lines kept on the page; older ones go. */
const KEEP = 500;

/** Pixels from the end within which the list follows new lines. */
const NEAR_END = 80;

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const calendar = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });

export interface Line {
  content: string;
  time: Date;
}

export class Log {
  #view: HTMLElement;
  #list: HTMLElement;
  #latest: HTMLElement;
  #following = true;
  #day = '';
  /** Own lines by key: those whose `Chat` is yet to come, and those shown whose reply is. */
  #expected = new Map<string, number>();
  #shown = new Map<string, HTMLElement[]>();

  /** `view` scrolls and holds the list; `latest` is the button that leads to its end. */
  constructor(view: HTMLElement, latest: HTMLElement) {
    this.#view = view;
    this.#list = view.querySelector('ol')!;
    this.#latest = latest;
    latest.addEventListener('click', () => this.#follow());
    view.addEventListener('scroll', () => {
      this.#following = this.#nearEnd();
      if (this.#following) latest.hidden = true;
    });
    // A keyboard or an error text that takes room leaves the last line in sight.
    new ResizeObserver(() => this.#following && this.#follow()).observe(view);
  }

  /** Shows a line that the server told everyone. */
  add(line: Line): void {
    const day = calendar.format(line.time);
    if (day !== this.#day) this.#append(entry('day', day));
    this.#day = day;

    const item = entry('line');
    const who = document.createElement('span');
    who.className = 'who';
    const text = document.createElement('p');
    text.dir = 'auto';
    text.textContent = line.content;
    const time = document.createElement('time');
    time.dateTime = line.time.toISOString();
    time.textContent = clock.format(line.time);
    item.append(who, text, time);
    mark(item, false);

    const key = keyOf(line);
    const expected = this.#expected.get(key) ?? 0;
    if (expected > 0) {
      this.#expected.set(key, expected - 1);
      mark(item, true);
    } else {
      this.#shown.set(key, [...(this.#shown.get(key) ?? []), item]);
    }
    this.#append(item);
  }

  /**
   * Marks a line as the reader's own, once the server has answered with its time.
   * The contract names no author, so this is how a page knows its own lines; the
   * line itself may come before or after the answer.
   */
  own(line: Line): void {
    const key = keyOf(line);
    const item = this.#shown.get(key)?.pop();
    if (item) mark(item, true);
    else this.#expected.set(key, (this.#expected.get(key) ?? 0) + 1);
    this.#follow();
  }

  /** Shows a remark of the page itself. */
  note(text: string): void {
    this.#append(entry('note', text));
  }

  #append(item: HTMLElement): void {
    this.#list.append(item);
    while (this.#list.childElementCount > KEEP) this.#list.firstElementChild!.remove();
    if (this.#shown.size > KEEP) this.#shown.delete(this.#shown.keys().next().value!);
    if (this.#following) this.#follow();
    else this.#latest.hidden = false;
  }

  #nearEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.#view;
    return scrollHeight - scrollTop - clientHeight < NEAR_END;
  }

  #follow(): void {
    this.#following = true;
    this.#view.scrollTop = this.#view.scrollHeight;
    this.#latest.hidden = true;
  }
}

function keyOf({ content, time }: Line): string {
  return `${time.getTime()} ${content}`;
}

function entry(kind: string, text = ''): HTMLElement {
  const item = document.createElement('li');
  item.className = kind;
  item.textContent = text;
  return item;
}

function mark(item: HTMLElement, own: boolean): void {
  item.classList.toggle('own', own);
  item.querySelector('.who')!.textContent = own ? 'You' : 'Someone';
}

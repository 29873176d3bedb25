import { describe, expect, test } from 'vitest';
import { baseUrlOf } from '#api/http/reference/base-url.ts';
import { docsPage } from '#api/http/reference/docs-page.ts';
import { html } from '#api/http/reference/html.ts';
import { openApiDocument } from '#api/http/reference/openapi-document.ts';
import { operations } from '#api/http/reference/operations.ts';

const page = docsPage(openApiDocument(operations));

test('every operation is on the page with its commands, and every link leads to a place on it', () => {
  for (const { id, path, commands } of operations) {
    expect(page).toContain(`<h3 id="${id}">`);
    expect(page).toContain(path);
    expect(commands.length).toBeGreaterThan(0);
  }
  expect(page.match(/<pre class="command">/g)).toHaveLength(
    operations.flatMap(({ commands }) => commands).length,
  );
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
});

test('the page loads and runs nothing', () => {
  expect(page).not.toMatch(/<script|<img|<link|<iframe|url\(|@import| on\w+=|style=/i);
  expect([...page.matchAll(/href="([^#"][^"]*)"/g)].map(([, href]) => href)).toEqual(['/openapi.json']);
});

test('elements are closed in the order in which they were opened', () => {
  const open: string[] = [];
  const body = page.replace(/<style>.*?<\/style>/s, '');
  for (const [, closing, name = '', rest] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)\b([^>]*)>/g)) {
    if (name === 'meta') continue;
    if (closing === '') open.push(name);
    else expect(open.pop(), `before </${name}>${rest}`).toBe(name);
  }
  expect(open).toEqual([]);
});

test('values in HTML are escaped, parts of HTML are not', () => {
  const part = html`<b>${'<&>"\''}</b>`;
  expect(html`<p title="${'"'}">${part}${[part, 1]}${false}${undefined}</p>`.text).toBe(
    '<p title="&quot;"><b>&lt;&amp;&gt;&quot;&#39;</b><b>&lt;&amp;&gt;&quot;&#39;</b>1</p>',
  );
});

describe('the address in commands', () => {
  const config = { PORT: 8080 };
  test('is the setting where there is one', () =>
    expect(
      baseUrlOf(
        { protocol: 'http', host: 'inner:1' },
        { ...config, PUBLIC_URL: 'https://clips.example/api/' },
      ),
    ).toBe('https://clips.example/api'));
  test.each([
    ['clips.example', 'http://clips.example'],
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['[::1]:8080', 'http://[::1]:8080'],
    ['', 'http://127.0.0.1:8080'],
    ['a;touch /tmp/x', 'http://127.0.0.1:8080'],
    ['$(id)', 'http://127.0.0.1:8080'],
    ['"><script>', 'http://127.0.0.1:8080'],
    ['user@evil.example', 'http://127.0.0.1:8080'],
    ['-o/tmp/x', 'http://127.0.0.1:8080'],
    ['a/b', 'http://127.0.0.1:8080'],
    ['a:port', 'http://127.0.0.1:8080'],
  ])('for the host %j is %s', (host, url) => expect(baseUrlOf({ protocol: 'http', host }, config)).toBe(url));
});

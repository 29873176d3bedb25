import { isIP } from 'node:net';
import { isPublicAddress } from './addresses.ts';

/** Exceptions of the guard: `host:port` entries as in `EGRESS_ALLOW`. */
export type EgressAllow = readonly string[];

const longestUrl = 4096;
const innerNames = ['localhost', 'local', 'internal', 'intranet', 'lan', 'home.arpa', 'onion'];

/**
 * What is wrong with a URL that nobody may fetch whatever it resolves to: a sentence for the client, or
 * undefined when it may be tried. Pure: nothing is resolved, so a name may still lead to a forbidden address.
 */
export function forbiddenOnItsFace(text: string, allow: EgressAllow = []): string | undefined {
  if (text.length > longestUrl) return `The URL is longer than ${longestUrl} characters.`;
  // A parser drops or guesses at these, each in its own way, so that two readers may mean two hosts.
  if (/[\p{Cc}\\]/u.test(text) || !text.isWellFormed()) {
    return 'The URL contains a control character, a backslash or broken Unicode; percent-encode it.';
  }
  if (!URL.canParse(text)) return 'The URL is not valid.';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return 'The URL must start with http:// or https://.';
  if (url.username !== '' || url.password !== '') return 'The URL must not contain a user name or password.';
  if (url.hostname === '') return 'The URL has no host.';
  if (isAllowed(url, allow)) return undefined;
  // The WHATWG parser has already turned decimal, octal, hex and short spellings into dotted ones.
  const host = bareHost(url);
  if (isIP(host) !== 0) {
    return isPublicAddress(host)
      ? undefined
      : 'The URL points to an address that is not on the public internet.';
  }
  const inner = innerNames.some((name) => host === name || host.endsWith(`.${name}`));
  return inner ? 'The URL points to a host that is not on the public internet.' : undefined;
}

/** True when the operator listed this very host and port in `EGRESS_ALLOW`. */
export function isAllowed(url: URL, allow: EgressAllow): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  const target = `${bareHost(url)}:${port}`;
  return allow.some((entry) => entry.toLowerCase().replace(/[[\]]/g, '') === target);
}

/** The host without IPv6 brackets and without the dot that may end a full name. */
export function bareHost(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** A URL as it may be logged: without query string, fragment and credentials. */
export function loggableUrl(text: string): string {
  if (!URL.canParse(text)) return '(not a URL)';
  const url = new URL(text);
  return `${url.protocol}//${url.host}${url.pathname}`;
}

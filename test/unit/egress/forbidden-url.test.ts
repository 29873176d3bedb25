import { describe, expect, test } from 'vitest';
import { isPublicAddress } from '#infra/egress/addresses.ts';
import { forbiddenOnItsFace, isAllowed, loggableUrl } from '#infra/egress/forbidden-url.ts';

const forbiddenUrls = [
  'ftp://example.com/a.mp4',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:video/mp4;base64,AAAA',
  'javascript:alert(1)',
  'concat:http://a/|http://b/',
  '//example.com/a.mp4',
  'example.com/a.mp4',
  'http://',
  'http:///',
  '',
  `https://example.com/${'a'.repeat(5000)}`,
  'http://user@example.com/',
  'http://user:secret@example.com/',
  'http://:secret@example.com/',
  'http://127.0.0.1/',
  'http://127.0.0.1:9092/',
  'http://127.1/',
  'http://127.0.1/',
  'http://127.0.0.1./',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0177.0.0.1/',
  'http://017700000001/',
  'http://0x7f.1/',
  'http://127.255.255.254/',
  'http://%31%32%37.0.0.1/',
  'http://127。0。0。1/',
  'http://１２７.0.0.1/',
  'http://①②⑦.⓪.⓪.①/',
  'http://0/',
  'http://0.0.0.0/',
  'http://00.00.00.00/',
  'http://10.0.0.1/',
  'http://10.1/',
  'http://167772161/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://192.168.257/',
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/latest/meta-data/',
  'http://0xa9fea9fe/',
  'http://0251.0376.0251.0376/',
  'http://100.64.0.1/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://192.0.0.192/',
  'http://192.0.2.1/',
  'http://198.18.0.1/',
  'http://198.51.100.1/',
  'http://203.0.113.1/',
  'http://192.88.99.1/',
  'http://224.0.0.1/',
  'http://239.255.255.250/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://[::1]/',
  'http://[::]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[::ffff:8.8.8.8]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[64:ff9b::8.8.8.8]/',
  'http://[64:ff9b:1::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2001::1]/',
  'http://[2001:db8::1]/',
  'http://[100::1]/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://[5f00::1]/',
  'http://[3fff::1]/',
  'http://localhost/',
  'http://LOCALHOST./',
  'http://foo.localhost/',
  'http://metadata.google.internal/',
  'http://printer.local/',
  'http://router.lan/',
  'http://nas.home.arpa/',
  'https://example.com/a\u0000.mp4',
  'https://exam\tple.com/a.mp4',
  'https://example.com/a.mp4\r\nHost: inner',
  'https://example.com/a\u0085.mp4',
  'https://example.com/\uD800.mp4',
  'https:\\\\example.com\\a.mp4',
  'https://example.com\\@inner.example/',
];

const ordinaryUrls = [
  'http://example.com/a.mp4',
  'https://example.com:8443/a%20b.mp4?token=1#t=3',
  'https://8.8.8.8/a.mp4',
  'https://[2606:4700:4700::1111]/a.mp4',
  'https://münchen.example/v.webm',
  'https://example.com/Züge im Schnee.mp4',
  'https://localhost.example.com/',
  'http://127.0.0.1.example.com/',
];

describe('a URL that is forbidden on its face', () => {
  test.each(forbiddenUrls)('%s is refused with a sentence', (url) => {
    expect(forbiddenOnItsFace(url)).toMatch(/^The URL .+\.$/);
  });

  test.each(ordinaryUrls)('%s may be tried', (url) => {
    expect(forbiddenOnItsFace(url)).toBeUndefined();
  });

  test('an exception opens its own host and port only', () => {
    const allow = ['127.0.0.1:9000', '[::1]:9000'];
    expect(forbiddenOnItsFace('http://127.0.0.1:9000/a', allow)).toBeUndefined();
    expect(forbiddenOnItsFace('http://2130706433:9000/a', allow)).toBeUndefined();
    expect(forbiddenOnItsFace('http://[::1]:9000/a', allow)).toBeUndefined();
    expect(forbiddenOnItsFace('http://127.0.0.1:9001/a', allow)).toBeDefined();
    expect(forbiddenOnItsFace('http://127.0.0.1/a', allow)).toBeDefined();
    expect(forbiddenOnItsFace('http://u:p@127.0.0.1:9000/a', allow)).toBeDefined();
    expect(forbiddenOnItsFace('ftp://127.0.0.1:9000/a', allow)).toBeDefined();
  });

  test('an exception may name the default port of the scheme', () => {
    expect(isAllowed(new URL('https://files.lan/a'), ['files.lan:443'])).toBe(true);
    expect(isAllowed(new URL('http://files.lan/a'), ['files.lan:443'])).toBe(false);
  });
});

describe('a resolved address', () => {
  test.each(['127.0.0.1', '::1', '::ffff:10.0.0.1', 'fe80::1%eth0', '169.254.169.254', 'nonsense', ''])(
    '%s is not public',
    (address) => expect(isPublicAddress(address)).toBe(false),
  );

  test.each(['1.1.1.1', '93.184.215.14', '2606:4700:4700::1111'])('%s is public', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );
});

test('a logged URL has no query string, fragment or credentials', () => {
  expect(loggableUrl('https://u:p@example.com/v.mp4?X-Amz-Signature=1#a')).toBe('https://example.com/v.mp4');
  expect(loggableUrl('%')).toBe('(not a URL)');
});

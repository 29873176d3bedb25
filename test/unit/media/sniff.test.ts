import { describe, expect, test } from 'vitest';
import { sniff } from '#infra/media/sniff.ts';

const ascii = (text: string) => Buffer.from(text, 'latin1');
const ftyp = (brand: string) =>
  Buffer.concat([Buffer.from([0, 0, 0, 32]), ascii(`ftyp${brand}`), Buffer.alloc(16)]);

describe('a type by content', () => {
  test.each([
    ['mp4', ftyp('isom'), 'video', 'video/mp4', 'mov'],
    ['mov', ftyp('qt  '), 'video', 'video/quicktime', 'mov'],
    ['old mov', Buffer.concat([Buffer.from([0, 0, 0, 8]), ascii('wide')]), 'video', 'video/quicktime', 'mov'],
    [
      'mkv',
      Buffer.concat([Buffer.from('1a45dfa3', 'hex'), ascii('....matroska')]),
      'video',
      'video/x-matroska',
      'matroska',
    ],
    [
      'webm',
      Buffer.concat([Buffer.from('1a45dfa3', 'hex'), ascii('....webm')]),
      'video',
      'video/webm',
      'matroska',
    ],
    ['avi', ascii('RIFF\x00\x00\x00\x00AVI LIST'), 'video', 'video/x-msvideo', 'avi'],
    ['m4a', ftyp('M4A '), 'audio', 'audio/mp4', 'mov'],
    ['wav', ascii('RIFF\x00\x00\x00\x00WAVEfmt '), 'audio', 'audio/wav', 'wav'],
    ['mp3 with tags', ascii('ID3\x04\x00'), 'audio', 'audio/mpeg', 'mp3'],
    ['mp3', Buffer.from('fffb9064', 'hex'), 'audio', 'audio/mpeg', 'mp3'],
    ['aac', Buffer.from('fff15080', 'hex'), 'audio', 'audio/aac', 'aac'],
    ['png', Buffer.from('89504e470d0a1a0a', 'hex'), 'image', 'image/png', undefined],
    ['jpeg', Buffer.from('ffd8ffe0', 'hex'), 'image', 'image/jpeg', undefined],
    ['webp', ascii('RIFF\x00\x00\x00\x00WEBPVP8 '), 'image', 'image/webp', undefined],
    ['gif', ascii('GIF89a'), 'image', 'image/gif', undefined],
    ['avif', ftyp('avif'), 'image', 'image/heif', undefined],
  ])('%s', (_name, head, kind, contentType, demuxer) => {
    expect(sniff(head)).toEqual(
      demuxer === undefined ? { kind, contentType } : { kind, contentType, demuxer },
    );
  });

  test.each([
    ['HLS', '#EXTM3U\n#EXT-X-VERSION:3'],
    ['concat script', 'ffconcat version 1.0\nfile /etc/passwd'],
    ['DASH', '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011">'],
  ])('%s is a playlist that no demuxer may read', (_name, text) => {
    expect(sniff(ascii(text))).toMatchObject({ kind: 'playlist' });
    expect(sniff(ascii(text)).demuxer).toBeUndefined();
  });

  test.each([
    ['HTML', '\n <!DOCTYPE html><html>'],
    ['HTML with a byte order mark', '\xef\xbb\xbf<html>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg">'],
    ['JSON', '{"error": "not found"}'],
  ])('%s is a page', (_name, text) => {
    expect(sniff(ascii(text)).kind).toBe('page');
  });

  test.each([
    ['nothing', ''],
    ['one byte', 'x'],
    ['text', 'hello'],
    ['MPEG-PS', '\x00\x00\x01\xba'],
    ['text in UTF-16', '\xff\xfeh\x00i\x00'],
    ['a sync word alone', '\xff\xfb'],
  ])('%s is unknown', (_name, text) => expect(sniff(ascii(text)).kind).toBe('unknown'));
});

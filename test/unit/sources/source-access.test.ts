import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { openSourceAccess, platformContext, type SourceAccess } from '#infra/sources/source-access.ts';

const log = pino({ level: 'silent' });
const signal = AbortSignal.timeout(60_000);
const opened: SourceAccess[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((sources) => sources.close()));
});

async function open(settings: Record<string, string>): Promise<SourceAccess> {
  const config = parseConfig({ PATH: process.env['PATH'], EGRESS_ALLOW: '127.0.0.1:8099', ...settings });
  const sources = await openSourceAccess(config, log);
  opened.push(sources);
  return sources;
}

const answers = async (sources: SourceAccess, urls: readonly string[]) =>
  Promise.all(urls.map((url) => sources.urls.isPlatformUrl(url, signal)));

test('the set-up’s yt-dlp is found, and told from direct links', async () => {
  const sources = await open({});
  expect(sources.allow).toEqual(['127.0.0.1:8099']);
  expect(platformContext(sources, { folder: '/tmp', signal }).ytDlp).toBe(sources.ytDlp);
  const urls = ['https://www.youtube.com/watch?v=aaaaaaaaaaa', 'http://127.0.0.1:8099/talk.mp4'];
  expect(await answers(sources, urls)).toEqual([true, false]);
});

test('without yt-dlp direct links still work, and the best known platforms are named as the reason', async () => {
  const sources = await open({ YT_DLP_VENV: '/nonexistent' });
  const urls = [
    'https://www.youtube.com/watch?v=aaaaaaaaaaa',
    'https://youtu.be/aaaaaaaaaaa',
    'https://notyoutube.com/a.mp4',
    'http://127.0.0.1:8099/talk.mp4',
  ];
  expect(await answers(sources, urls)).toEqual([true, true, false, false]);
  expect(() => platformContext(sources, { folder: '/tmp', signal })).toThrow(
    expect.objectContaining({
      code: 'NOT_SET_UP',
      retryable: true,
      message: expect.stringContaining('direct link'),
    }),
  );
});

test('without ffmpeg nothing opens, and the message says what to install', async () => {
  await expect(open({ PATH: '/nonexistent', FFMPEG_PATH: '' })).rejects.toThrow(/ffprobe not found: install/);
});

import { describe, expect, test } from 'vitest';
import { explainYtDlp } from '#infra/sources/explain-yt-dlp.ts';
import type { PlatformFailureCode } from '#infra/sources/platform-failure.ts';

/** As yt-dlp writes them, ids changed. */
const recorded: readonly (readonly [PlatformFailureCode, string])[] = [
  [
    'PRIVATE',
    "[youtube] dQw4w9WgXcQ: Private video. Sign in if you've been granted access to this video. Use --cookies-from-browser or --cookies for the authentication. See  https://github.com/yt-dlp/yt-dlp/wiki/FAQ#how-do-i-pass-cookies-to-yt-dlp  for how to manually pass cookies.",
  ],
  ['PRIVATE', '[vimeo] 76979871: This video is protected by a password, use the --video-password option'],
  [
    'PRIVATE',
    '[twitter] 1577719286659006464: You are not authorized to view this protected tweet. Use --cookies, --cookies-from-browser, --username and --password, --netrc-cmd, or --netrc (twitter) to provide account credentials',
  ],
  [
    'AGE_RESTRICTED',
    '[youtube] dQw4w9WgXcQ: Sign in to confirm your age. This video may be inappropriate for some users. Use --cookies-from-browser or --cookies for the authentication.',
  ],
  [
    'AGE_RESTRICTED',
    '[twitter] 1577719286659006464: NSFW tweet requires authentication. Use --cookies, --cookies-from-browser, --username and --password',
  ],
  [
    'RATE_LIMITED',
    '[youtube] dQw4w9WgXcQ: Sign in to confirm you’re not a bot. Use --cookies-from-browser or --cookies for the authentication.',
  ],
  [
    'RATE_LIMITED',
    '[youtube] dQw4w9WgXcQ: Video unavailable. This content isn’t available, try again later. The current session has been rate-limited by YouTube for up to an hour.',
  ],
  [
    'RATE_LIMITED',
    '[vimeo] 76979871: Unable to download JSON metadata: HTTP Error 429: Too Many Requests (caused by <HTTPError 429: Too Many Requests>)',
  ],
  ['RATE_LIMITED', '[TikTok] 7106594312292453675: Your IP address is blocked from accessing this post'],
  ['PAID', '[youtube] dQw4w9WgXcQ: This video requires payment to watch'],
  [
    'PAID',
    '[youtube] dQw4w9WgXcQ: Join this channel to get access to members-only content like this video, and other exclusive perks.',
  ],
  [
    'PAID',
    '[youtube] dQw4w9WgXcQ: This video is available to this channel’s members on level: Gold (or any higher level). Join this channel to get access to members-only content and other exclusive perks.',
  ],
  [
    'REGION_BLOCKED',
    '[youtube] dQw4w9WgXcQ: Video unavailable. The uploader has not made this video available in your country\nYou might want to use a VPN or a proxy server (with --proxy) to workaround.',
  ],
  [
    'REGION_BLOCKED',
    '[BBCIPlayer] b006q2x0: This video is not available from your location due to geo restriction',
  ],
  [
    'REGION_BLOCKED',
    '[youtube] dQw4w9WgXcQ: Video unavailable. This video contains content from SME, who has blocked it in your country on copyright grounds',
  ],
  ['PROTECTED', '[udemy] 1: This video is DRM protected'],
  [
    'PROTECTED',
    '[DRM] The requested site is known to use DRM protection. It will NOT be supported. Please DO NOT open an issue, unless you have evidence that the video is not DRM protected',
  ],
  ['LIVE', '[youtube] dQw4w9WgXcQ: This live event will begin in 6 days.'],
  ['LIVE', '[youtube] dQw4w9WgXcQ: Premieres in 2 hours'],
  ['LIVE', '[twitch:stream] somebody: The channel is not currently live'],
  [
    'LOGIN_REQUIRED',
    '[Instagram] C0000000000: Requested content is not available, login required. Use --cookies, --cookies-from-browser',
  ],
  [
    'LOGIN_REQUIRED',
    '[facebook] 10153231379946729: This video is only available for registered users. Use --cookies, --cookies-from-browser, --username and --password',
  ],
  ['LOGIN_REQUIRED', '[TikTok] 7106594312292453675: You need to log in to access this content'],
  ['UNAVAILABLE', '[youtube] dQw4w9WgXcQ: Video unavailable. This video has been removed by the uploader'],
  [
    'UNAVAILABLE',
    '[youtube] dQw4w9WgXcQ: Video unavailable. This video is no longer available because the YouTube account associated with this video has been terminated.',
  ],
  ['UNAVAILABLE', '[youtube] xxxxxxxxxxx: Video unavailable'],
  [
    'UNAVAILABLE',
    '[vimeo] 76979871: Unable to download webpage: HTTP Error 404: Not Found (caused by <HTTPError 404: Not Found>)',
  ],
  [
    'UNAVAILABLE',
    '[dailymotion] x5kesuj: Unable to download JSON metadata: HTTP Error 403: Forbidden (caused by <HTTPError 403: Forbidden>)',
  ],
  ['UNAVAILABLE', '[TikTok] 7106594312292453675: Video not available, status code 10204'],
  [
    'NO_SUITABLE_FORMAT',
    '[youtube] dQw4w9WgXcQ: Requested format is not available. Use --list-formats for a list of available formats',
  ],
  [
    'NO_SUITABLE_FORMAT',
    '[Reddit] 124pp33: No video formats found!; please report this issue on  https://github.com/yt-dlp/yt-dlp/issues',
  ],
  ['NO_SUITABLE_FORMAT', '[twitter] 1577719286659006464: No video could be found in this tweet'],
  [
    'NETWORK',
    "[vimeo] 76979871: Unable to download webpage: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
  ],
  [
    'NETWORK',
    "[vimeo] 76979871: Unable to download webpage: <urlopen error timed out> (caused by TransportError('timed out'))",
  ],
  [
    'NETWORK',
    '[vimeo] 76979871: Unable to download webpage: HTTP Error 503: Service Unavailable (caused by <HTTPError 503: Service Unavailable>)',
  ],
  [
    'NETWORK',
    '[youtube] dQw4w9WgXcQ: Unable to download API page: Tunnel connection failed: 502 Refused (caused by ProxyError)',
  ],
  ['NETWORK', '[download] Got error: 1048576 bytes read, 2097152 more expected. Giving up after 3 retries'],
  ['NOT_A_PLATFORM', 'Unsupported URL: https://example.com/private/login?members-only=1'],
  [
    'NOT_A_PLATFORM',
    '[generic] None: No suitable extractor (default,-generic) found for URL https://example.com/v',
  ],
  [
    'UNREADABLE',
    '[vimeo] 76979871: Unable to extract config URL; please report this issue on  https://github.com/yt-dlp/yt-dlp/issues?q= , filling out the appropriate issue template. Confirm you are on the latest version using  yt-dlp -U',
  ],
];

describe('what yt-dlp says', () => {
  test.each(recorded)('%s: %s', (code, message) => {
    const failure = explainYtDlp(`WARNING: [x] something private was skipped\nERROR: ${message}\n`);
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^The [^\n]{10,120}\.$/);
    expect(failure.retryable).toBe(['RATE_LIMITED', 'NETWORK'].includes(code));
  });

  test('without an error line is a crash of the tool', () => {
    const failure = explainYtDlp('Traceback (most recent call last):\nMemoryError\n');
    expect(failure).toMatchObject({ code: 'TOOL_BROKEN', retryable: true });
    expect(failure.detail).toContain('MemoryError');
  });

  test('is kept for the log without query strings', () => {
    const failure = explainYtDlp('ERROR: Unsupported URL: https://example.com/v?token=secret#x secret-free');
    expect(failure.detail).toBe('ERROR: Unsupported URL: https://example.com/v secret-free');
  });
});

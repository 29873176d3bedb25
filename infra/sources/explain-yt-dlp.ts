import { PlatformFailure, type PlatformFailureCode } from './platform-failure.ts';

type Meaning = { readonly code: PlatformFailureCode; readonly words: RegExp; readonly sentence: string };

/**
 * What yt-dlp's messages mean, the more particular first: a private video also asks for a login, and a paid
 * one is also unavailable. The words are yt-dlp's and the platforms' own.
 */
const meanings: readonly Meaning[] = [
  {
    code: 'NOT_A_PLATFORM',
    words: /No suitable extractor|Unsupported URL/i,
    sentence: 'The URL is not a video of a supported hosting platform.',
  },
  {
    code: 'RATE_LIMITED',
    words:
      /HTTP Error 429|Too Many Requests|rate.?limit|try again later|not a bot|IP address is blocked|unusual traffic/i,
    sentence: 'The platform limits how often videos may be fetched; try again later.',
  },
  {
    // The status before the words: "503: Service Unavailable" is no removed video.
    code: 'NETWORK',
    words: /HTTP Error (408|425|5\d\d)|Tunnel connection failed: (429|5\d\d)/i,
    sentence: 'The platform could not be reached.',
  },
  {
    code: 'AGE_RESTRICTED',
    words:
      /confirm your age|age.?restrict|age.?gat|inappropriate for some users|age verification|NSFW tweet/i,
    sentence: 'The video is age-restricted, so it cannot be fetched.',
  },
  {
    code: 'PRIVATE',
    words: /\bprivate\b|protected tweet|video password|password.protected|protected by a password/i,
    sentence: 'The video is private.',
  },
  {
    code: 'PAID',
    words:
      /requires payment|members.only|join this channel|premium (video|content|account|member|subscri)|only available (for|to) (premium|paid|subscri)|subscribers?.only|(requires?|need) (a|an active)? ?subscription|\brental\b|\brent(ed)? (it|this|the)|purchase|pay.?per.?view|paywall/i,
    sentence: 'The video must be paid for on its platform, so it cannot be fetched.',
  },
  {
    code: 'REGION_BLOCKED',
    words:
      /geo.?restrict|geo.?block|(not (made this video )?available|blocked|unavailable)[^.]{0,40} (in|from) your (country|region|location)|your country|only available in/i,
    sentence: 'The video is not available in the region of this service.',
  },
  {
    code: 'PROTECTED',
    words: /\bDRM\b/i,
    sentence: 'The video is copy-protected (DRM), so it cannot be fetched.',
  },
  {
    code: 'LIVE',
    words:
      /live (event|stream|broadcast)[^.]{0,40}(will begin|scheduled|not (yet )?started|has not)|Premieres in|Premiere will begin|is not currently live|livestream|is offline|not started yet/i,
    sentence: 'The URL is a live stream or a premiere that has not ended; give a finished video.',
  },
  {
    code: 'LOGIN_REQUIRED',
    words:
      /log(ged)?.?in|sign in|registered users|--cookies|authentication|account (is )?(required|needed)|HTTP Error 401/i,
    sentence: 'The video can only be seen after signing in to its platform, so it cannot be fetched.',
  },
  {
    code: 'NO_SUITABLE_FORMAT',
    words:
      /Requested format is not available|No video formats found|no video (could be found )?in this|is not a video/i,
    sentence: 'The platform offers no video of up to 1080p at this URL.',
  },
  {
    code: 'UNAVAILABLE',
    words:
      /unavailable|not available|no longer (available|exists)|has been (removed|deleted|terminated|taken down)|does(n't| not) exist|not found|HTTP Error (404|410|451)|\bremoved\b|terminated|not been made available/i,
    sentence: 'The video is not available: it may have been removed.',
  },
  {
    code: 'NETWORK',
    words:
      /timed? ?out|connection (reset|refused|aborted|broken)|Remote end closed|IncompleteRead|bytes read|network (error|is unreachable)|name resolution|getaddrinfo|EOF occurred|SSL|handshake/i,
    sentence: 'The platform could not be reached.',
  },
  {
    code: 'UNAVAILABLE',
    words: /HTTP Error 403|Forbidden/i,
    sentence: 'The platform refused to give the video.',
  },
];

/** The failure behind what yt-dlp wrote on its stderr when it ended badly. */
export function explainYtDlp(stderrTail: string, cause?: unknown): PlatformFailure {
  const errors = stderrTail.split('\n').filter((line) => line.startsWith('ERROR:'));
  // A failure of the page comes first; what follows from it comes after.
  const said = withoutQueries(errors.join('\n'));
  const detail = withoutQueries(errors.length > 0 ? said : stderrTail).slice(-1500);
  const meaning = meanings.find(({ words }) => words.test(said));
  if (meaning !== undefined) return new PlatformFailure(meaning.code, meaning.sentence, { detail, cause });
  if (errors.length === 0) {
    return new PlatformFailure('TOOL_BROKEN', 'The downloader for hosting platforms crashed.', {
      detail,
      cause,
    });
  }
  return new PlatformFailure('UNREADABLE', 'The platform’s page could not be read; it may have changed.', {
    detail,
    cause,
  });
}

/** Messages quote URLs; their query strings may hold secrets and words that mean nothing here. */
function withoutQueries(text: string): string {
  return text.replace(/(\bhttps?:\/\/[^\s?#"'<>]*)[?#][^\s"'<>]*/gi, '$1');
}

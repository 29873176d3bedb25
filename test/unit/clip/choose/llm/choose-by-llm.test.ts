import { afterEach, describe, expect, test } from 'vitest';
import type { ChoiceRequest, LanguageModel } from '#workers/clip/choose/choice-request.ts';
import { chooseClips } from '#workers/clip/choose/choose-clips.ts';
import { transcriptWindows } from '#workers/clip/choose/llm/transcript-windows.ts';
import { understoodSentences } from '#workers/clip/choose/transcript.ts';
import { SentenceEmbedder } from '#workers/media/text/sentence-embedder.ts';
import { ModelStore } from '#workers/models/model-store.ts';
import { syntheticAnalysis, talk } from '../synthetic-analysis.ts';
import { type Reply, type SeenRequest, startChatServer } from './chat-server.ts';

const embedder = await SentenceEmbedder.open(await ModelStore.open());
const apiKey = 'sk-very-secret';
const durationMs = 150_000;
const analysis = syntheticAnalysis({ durationMs, sentences: talk(durationMs) });
const sentences = understoodSentences(analysis.sound, { durationMs, cutsMs: [] });

const plainRequest: ChoiceRequest = {
  num_clips: 1,
  style: 'general',
  prompt: null,
  length_seconds: null,
  hook_length_seconds: null,
  auto_heading: true,
  heading: null,
  sourceName: { title: null, fileName: 'talk.mp4' },
};

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

type Over = Partial<ChoiceRequest> & { readonly timeLimitMs?: number; readonly signal?: AbortSignal };

async function choose(reply: (request: SeenRequest, count: number) => Reply, over: Over = {}) {
  const server = await startChatServer(reply);
  stops.push(server.stop);
  const reasons: string[] = [];
  const { timeLimitMs = 30_000, signal, ...request } = over;
  const languageModel: LanguageModel = {
    endpoint: { baseUrl: server.baseUrl, model: 'small-model', apiKey },
    timeLimitMs,
    onFallback: (reason) => reasons.push(reason),
  };
  const chosen = await chooseClips(
    analysis,
    { ...plainRequest, ...request },
    { embedder, languageModel, signal },
  );
  return { chosen, reasons, seen: server.seen };
}

/** A model that wants sentences 5 to 9, the submarine. */
function wants(first: number, last: number, details: object = {}): (request: SeenRequest) => Reply {
  return ({ question, asked }) => {
    if (question === 'details') {
      const answer = {
        first_sentence: first,
        last_sentence: last,
        title: 'Down to Four Thousand Metres',
        heading: 'What lives in the dark?',
        hook_sentence: null,
      };
      return JSON.stringify({ ...answer, ...details });
    }
    const isThere =
      new RegExp(`^${first} \\[`, 'm').test(asked) && new RegExp(`^${last} \\[`, 'm').test(asked);
    const clips = isThere
      ? [{ first_sentence: first, last_sentence: last, score: 95, why: 'strange fish' }]
      : [];
    return JSON.stringify({ clips });
  };
}

describe('a language model', () => {
  test('chooses and names the clip; its bounds are those of sentences', async () => {
    const { chosen, seen, reasons } = await choose(wants(5, 9));
    const [clip] = chosen.clips;
    expect(reasons).toEqual([]);
    expect(clip).toMatchObject({
      title: 'Down to Four Thousand Metres',
      heading: 'What lives in the dark?',
      notes: [],
    });
    expect(clip?.cuts).toHaveLength(1);
    expect(clip?.cuts[0]?.start_ms).toBeGreaterThan(sentences[4]?.endMs ?? 0);
    expect(clip?.cuts[0]?.start_ms).toBeLessThan(sentences[5]?.startMs ?? 0);
    expect(clip?.cuts[0]?.end_ms).toBeGreaterThan(sentences[9]?.endMs ?? 0);
    expect(clip?.cuts[0]?.end_ms).toBeLessThan(sentences[10]?.startMs ?? 0);
    expect(clip?.score.parts['model']).toBe(0.95);
    expect(new Set(seen.map(({ path }) => path))).toEqual(new Set(['/v1/chat/completions']));
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${apiKey}`]));
    expect(seen[0]?.body).toMatchObject({
      model: 'small-model',
      temperature: 0,
      response_format: { type: 'json_schema' },
    });
  });

  test('is told the style, the prompt and the wishes for the heading, and every sentence is in a window', async () => {
    const over = {
      prompt: 'only "fish"',
      style: 'business',
      heading: { text: null, instructions: 'all caps' },
    };
    const { seen } = await choose(wants(5, 9), over);
    const windows = seen.filter(({ question }) => question === 'passages').map(({ asked }) => asked);
    for (const [number, { text }] of sentences.entries()) {
      expect(windows.some((asked) => asked.includes(`${number} [`) && asked.includes(text))).toBe(true);
    }
    expect(windows[0]).toContain(JSON.stringify('only "fish"'));
    expect(windows[0]).toContain('business');
    expect(seen.find(({ question }) => question === 'details')?.asked).toContain('all caps');
  });

  test('may move the bounds of what it chose, and say what is heard first', async () => {
    const { chosen } = await choose(wants(5, 8, { last_sentence: 9, hook_sentence: 7 }), {
      hook_length_seconds: 5,
    });
    const [clip] = chosen.clips;
    expect(clip?.hook?.kind).toBe('teaser');
    expect(clip?.cuts[0]?.start_ms).toBeGreaterThan(sentences[6]?.endMs ?? 0);
    expect(clip?.cuts[0]?.end_ms).toBeLessThan(sentences[8]?.startMs ?? 0);
    expect(clip?.cuts[1]?.end_ms).toBeGreaterThan(sentences[9]?.endMs ?? 0);
  });

  test('is asked again when it answers nonsense, and told what was wrong', async () => {
    const nonsense = [
      'I like the fish best.',
      '{"clips": [{"first_sentence": "five"}]}',
      '{"clips": [{"first_sentence": 5, "last_sentence": 900, "score": 50, "why": ""}]}',
    ];
    for (const wrong of nonsense) {
      const good = wants(5, 9);
      const { chosen, seen } = await choose((request) =>
        request.body.messages.length > 2
          ? good(request)
          : request.question === 'details'
            ? good(request)
            : wrong,
      );
      expect(chosen.clips[0]?.title).toBe('Down to Four Thousand Metres');
      expect(
        seen.some(({ body }) => body.messages.at(-1)?.content.startsWith('Your answer cannot be used: ')),
      ).toBe(true);
    }
  });

  test('may put its JSON in a code fence, and need not know schemas', async () => {
    const good = wants(5, 9);
    const { chosen } = await choose((request) =>
      request.body.response_format === undefined
        ? `\`\`\`json\n${String(good(request))}\n\`\`\``
        : { status: 400, body: '{"error": {"message": "response_format is not supported"}}' },
    );
    expect(chosen.clips[0]?.title).toBe('Down to Four Thousand Metres');
  });

  test('that names fewer than asked for is helped out, and no title comes twice', async () => {
    const { chosen } = await choose(wants(5, 9), { num_clips: 3 });
    expect(chosen.clips).toHaveLength(3);
    expect(new Set(chosen.clips.map((clip) => clip.title)).size).toBe(3);
  });

  test('does not change the client’s own heading, nor makes one that was not asked for', async () => {
    const own = await choose(wants(5, 9), { heading: { text: 'My words', instructions: null } });
    expect(own.chosen.clips[0]?.heading).toBe('My words');
    const none = await choose(wants(5, 9, { heading: null }), { auto_heading: false });
    expect(none.chosen.clips[0]?.heading).toBeNull();
  });
});

describe('our own rules choose, and the plan and the log say why,', () => {
  const fails = (code: string) => expect.stringMatching(new RegExp(`^${code}, `));

  test.each<[string, Reply, unknown]>([
    ['refuses', { status: 401, body: '{}' }, fails('REFUSED')],
    ['talks nonsense to the end', 'no JSON', fails('MALFORMED')],
    ['is no chat server', { status: 200, body: '<html>' }, fails('MALFORMED')],
    ['redirects', { status: 302, body: '' }, fails('REFUSED')],
    ['answers without end', { status: 200, body: 'x'.repeat(2 * 1024 * 1024) }, fails('TOO_LARGE')],
    ['names nothing', '{"clips": []}', 'it named no passage'],
  ])('when the model %s', async (_what, reply, reason) => {
    const { chosen, reasons } = await choose(() => reply);
    expect(reasons).toEqual([reason]);
    expect(chosen.clips).toHaveLength(1);
    expect(chosen.clips[0]?.notes).toEqual([
      'The language model gave no choice that could be used: the clips were chosen without it.',
    ]);
    expect(JSON.stringify([reasons, chosen])).not.toContain(apiKey);
  });

  test('when the model takes longer than a job may wait', async () => {
    const { chosen, reasons } = await choose(() => 'hang', { timeLimitMs: 200 });
    expect(reasons).toEqual(['it did not finish within 0 s']);
    expect(chosen.clips).toHaveLength(1);
  });

  test('when nothing listens there', async () => {
    const reasons: string[] = [];
    const languageModel = {
      endpoint: { baseUrl: 'http://127.0.0.1:9', model: 'm', apiKey },
      timeLimitMs: 30_000,
      onFallback: (reason: string) => reasons.push(reason),
    };
    const { clips } = await chooseClips(analysis, plainRequest, { embedder, languageModel });
    expect(reasons).toEqual([fails('UNREACHABLE')]);
    expect(clips).toHaveLength(1);
  });
});

test('a busy model is tried again', async () => {
  const good = wants(5, 9);
  const { chosen, reasons } = await choose((request, count) =>
    count === 1 ? { status: 503, body: '' } : good(request),
  );
  expect(reasons).toEqual([]);
  expect(chosen.clips[0]?.title).toBe('Down to Four Thousand Metres');
});

test('a cancelled job ends the questions with it', async () => {
  const stopped = new AbortController();
  const choosing = choose(
    () => {
      stopped.abort(new Error('cancelled'));
      return 'hang';
    },
    { signal: stopped.signal },
  );
  await expect(choosing).rejects.toThrow('cancelled');
});

test('windows are 90 s long and overlap by 30 s', () => {
  const long = 600_000;
  const said = understoodSentences(syntheticAnalysis({ durationMs: long, sentences: talk(long) }).sound, {
    durationMs: long,
    cutsMs: [],
  });
  const windows = transcriptWindows(said);
  const at = (number: number) => said[number]?.startMs ?? 0;
  for (const [order, { first, end }] of windows.entries()) {
    expect(at(end - 1) - at(first)).toBeLessThanOrEqual(90_000);
    const next = windows[order + 1];
    if (next === undefined) expect(end).toBe(said.length);
    else expect((said[end - 1]?.endMs ?? 0) - at(next.first)).toBeGreaterThan(20_000);
  }
});

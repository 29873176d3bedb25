import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type LimitedProcess, ProcessFailed, runLimited } from '#infra/media/limited-process.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { locateMediaTools } from '#infra/media/media-tools.ts';

const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
const limits = {
  wallMs: 20_000,
  memory: { kind: 'addressSpace', bytes: 256 * 1024 ** 2 },
  fileBytes: 1024 * 1024,
} as const;

function shell(script: string, over: Partial<LimitedProcess> = {}): Promise<string> {
  const signal = new AbortController().signal;
  return runLimited({
    tools,
    program: '/bin/sh',
    args: ['-c', script],
    cwd: tmpdir(),
    limits,
    signal,
    ...over,
  });
}

const failureOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);

describe('a limited process', () => {
  test('gives the tail of its stderr, however much there is', async () => {
    const tail = await shell('head -c 100000 /dev/zero | tr "\\0" x >&2; echo end >&2');
    expect(tail).toHaveLength(8 * 1024);
    expect(tail.endsWith('end\n')).toBe(true);
  });

  test('tells how it ended when it ended badly', async () => {
    const error = await failureOf(shell('echo broken >&2; exit 3'));
    expect(error).toBeInstanceOf(ProcessFailed);
    expect(error).toMatchObject({ exitCode: 3, exitSignal: null, stderrTail: 'broken\n' });
  });

  test('is killed when its time is over, even if it ignores SIGTERM', async () => {
    const error = await failureOf(
      shell('trap "" TERM; while :; do :; done', { limits: { ...limits, wallMs: 300 } }),
    );
    expect(error).toBeInstanceOf(MediaFailure);
    expect(error).toMatchObject({ code: 'TIME_LIMIT', retryable: true });
  });

  test('gives several outputs, each at the pace of its reader', async () => {
    const read = async (stream: Readable) => {
      const pieces: Buffer[] = [];
      for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece);
      return Buffer.concat(pieces).length;
    };
    let [first, second] = [0, 0];
    await shell('head -c 300000 /dev/zero >&3; head -c 200000 /dev/zero', {
      outputs: [
        async (stream) => {
          first = await read(stream);
        },
        async (stream) => {
          second = await read(stream);
        },
      ],
    });
    expect([first, second]).toEqual([200_000, 300_000]);
  });

  test('is stopped when one of its readers fails, with that failure', async () => {
    const broken = new Error('no room for more');
    const error = await failureOf(
      shell('cat /dev/zero', {
        outputs: [
          async (stream) => {
            for await (const _piece of stream) throw broken;
          },
        ],
      }),
    );
    expect(error).toBe(broken);
  });

  test('is stopped by its caller', async () => {
    const abort = new AbortController();
    const running = failureOf(
      shell('echo up; exec sleep 60', { signal: abort.signal, onStdout: () => abort.abort() }),
    );
    expect(await running).toMatchObject({ code: 'ABORTED' });
    expect(await failureOf(shell('true', { signal: abort.signal }))).toMatchObject({ code: 'ABORTED' });
  });

  test.skipIf(tools.prlimitPath === undefined)('cannot take more memory or disk than allowed', async () => {
    expect(await failureOf(shell('exec tail /dev/zero'))).toBeInstanceOf(ProcessFailed);
    const file = `${tmpdir()}/limited-${process.pid}`;
    const script = `trap 'rm -f ${file}' EXIT; head -c 2000000 /dev/zero > ${file}`;
    expect(await failureOf(shell(script))).toBeInstanceOf(ProcessFailed);
  });

  test('sees nothing of our environment', async () => {
    const pieces: Buffer[] = [];
    await shell('env', { onStdout: (piece) => pieces.push(piece) });
    const names = Buffer.concat(pieces)
      .toString()
      .split('\n')
      .map((line) => line.split('=')[0]);
    const expected = [
      '',
      'AV_LOG_FORCE_NOCOLOR',
      'HOME',
      'LC_ALL',
      'MALLOC_ARENA_MAX',
      'PATH',
      'PWD',
      'OLDPWD',
      'SHLVL',
      '_',
    ];
    expect(names.filter((name) => !expected.includes(name ?? ''))).toEqual([]);
  });

  test.skipIf(tools.setprivPath === undefined)('dies with its parent, also by kill -9', async () => {
    const module = resolve(import.meta.dirname, '../../../infra/media/limited-process.ts');
    const code = `const { runLimited } = await import(${JSON.stringify(module)});
      await runLimited({ ...${JSON.stringify({ tools, limits, cwd: tmpdir() })}, program: '/bin/sh',
        args: ['-c', 'echo $$; exec sleep 60'], signal: new AbortController().signal,
        onStdout: (piece) => process.stdout.write(piece) });`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const childFolder = `/proc/${Number(line.toString())}`;
    expect(existsSync(childFolder)).toBe(true);
    parent.kill('SIGKILL');
    const giveUpAt = performance.now() + 10_000;
    while (existsSync(childFolder) && performance.now() < giveUpAt) await wait(20);
    expect(existsSync(childFolder)).toBe(false);
  });
});

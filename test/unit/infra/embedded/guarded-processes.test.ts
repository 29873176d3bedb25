import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createProcessGuard, type GuardedProgram } from '#infra/embedded/guarded-processes.ts';
import { isAlive, waitForExit } from '#infra/embedded/process-table.ts';

const program = (script: string, stopLimitMs = 5_000): GuardedProgram => ({
  name: 'The program',
  command: process.execPath,
  args: ['-e', script],
  options: { stdio: 'ignore' },
  stopSignal: 'SIGTERM',
  stopLimitMs,
});

const forEver = 'setInterval(() => {}, 1000)';

describe('a guarded process', () => {
  test('stops in order by its signal', async () => {
    const guard = createProcessGuard();
    const running = await guard.start(program(forEver));
    await running.stop();
    expect(await running.exited).toEqual({ code: null, signal: 'SIGTERM' });
    expect(running.hasExited()).toBe(true);
    await guard.close();
  });

  test('is killed when it does not stop within its limit', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-'));
    const sign = join(folder, 'listening');
    const guard = createProcessGuard();
    const stubborn = `process.on('SIGTERM', () => {}); fs.writeFileSync('${sign}', ''); ${forEver}`;
    const running = await guard.start(program(stubborn, 300));
    await vi.waitFor(() => access(sign), { timeout: 10_000 });
    await running.stop();
    expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await guard.close();
    await rm(folder, { recursive: true });
  });

  test('is named with what to do when its program is not there', async () => {
    const guard = createProcessGuard();
    const missing = { ...program(forEver), name: 'Kafka', command: 'no-such-program' };
    await expect(guard.start(missing)).rejects.toThrow(
      'Kafka cannot start: no-such-program is not installed',
    );
    await guard.close();
  });

  test('ends also when its starter is killed', async () => {
    const module = import.meta.resolve('#infra/embedded/guarded-processes.ts');
    const starterScript = `
      const { createProcessGuard } = await import(${JSON.stringify(module)});
      const running = await createProcessGuard().start(${JSON.stringify(program(forEver))});
      console.log(running.pid);
      ${forEver};`;
    const starter = spawn(process.execPath, ['--input-type=module', '-e', starterScript], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = Number((await once(starter.stdout, 'data'))[0]);
    expect(await isAlive(pid)).toBe(true);
    starter.kill('SIGKILL');
    expect(await waitForExit(pid, 10_000)).toBe(true);
  });
});

import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Canary, startCanary } from '#test/unit/egress/canary.ts';

const script = fileURLToPath(new URL('../../../infra/sources/offline-node.sh', import.meta.url));
const env = { OFFLINE_NODE: process.execPath, PATH: '/nonexistent' };
const isolates = spawnSync('/usr/bin/unshare', ['--map-root-user', '--net', '--', '/bin/true']).status === 0;

let canary: Canary;

beforeEach(async () => {
  canary = await startCanary();
});

afterEach(() => canary.close());

/** Connects and says what came of it. */
const connecting = (port: number) => `
  require('node:net').connect(${port}, '127.0.0.1')
    .on('connect', () => { console.log('connected'); process.exit(); })
    .on('error', (error) => { console.log(error.code); process.exit(); });`;

describe.runIf(isolates)('Node for yt-dlp', () => {
  test('tells its version, as yt-dlp asks for it', async () => {
    const { stdout } = await promisify(execFile)(script, ['--version'], { env });
    expect(stdout.trim()).toBe(process.version);
  });

  test('has no network, not even loopback', async () => {
    const args = ['--permission', '-e', connecting(canary.port)];
    const [outside, inside] = await Promise.all([
      promisify(execFile)(process.execPath, args, { env }),
      promisify(execFile)(script, args, { env }),
    ]);
    expect(outside.stdout.trim()).toBe('connected');
    expect(inside.stdout.trim()).toBe('ENETUNREACH');
    expect(canary.connections()).toBe(1);
  });
});

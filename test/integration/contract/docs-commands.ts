import { execFile } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { ContractSystem, TeamClient } from './contract-system.ts';

const run = promisify(execFile);

/** The commands of the page at `/docs`, pasted into a shell as they stand there. */
export function docsCommandsContract(system: () => ContractSystem): void {
  describe('the page at /docs', () => {
    test('has commands that all succeed when they are pasted one after another', async () => {
      const response = await fetch(`${system().baseUrls[0]}/docs`);
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
      const commands = commandsOf(await response.text());
      expect(commands.length).toBeGreaterThan(20);
      const env = await variables();
      // A cancelled job is not there to be cancelled again, and so on: each command has what it needs by itself.
      for (const command of commands) {
        expect(command).toContain(`${system().baseUrls[0]}/`);
        const { exitCode, said } = await paste(command, env);
        expect(exitCode, `${command}\n${said}`).toBe(0);
      }
    });
  });

  async function paste(
    command: string,
    env: Record<string, string>,
  ): Promise<{ exitCode: number; said: string }> {
    const options = { cwd: system().folder, env: { PATH: process.env['PATH'], ...env } };
    return run('bash', ['--norc', '-c', `${failing}\n${command}`], options).then(
      () => ({ exitCode: 0, said: '' }),
      (error: Error & { code?: number; stdout?: string }) => ({
        exitCode: error.code ?? 1,
        said: `${error.stdout ?? ''}${error.message}`,
      }),
    );
  }

  /** What the page says to export, with values of a team of its own. */
  async function variables(): Promise<Record<string, string>> {
    const client = await system().client({ cents: 100_000 });
    const { sources, folder, receiver } = system();
    await copyFile(sources.path('12s.mov'), join(folder, 'talk.mp4'));
    await copyFile(sources.path('face.jpg'), join(folder, 'face.jpg'));
    const video_url = sources.url('12s.mov');
    const face_image_url = sources.url('face.jpg');
    const callback_url = receiver.url('/docs');
    const ended = await create(client, '/v1/clip', { video_url, callback_url });
    await system().endClip(ended, 0, { title: 'Done' });
    const list = `/v1/webhooks/deliveries?job_id=${ended}`;
    const hasDelivery = (body: Record<string, unknown>) => (body['deliveries'] as unknown[]).length > 0;
    const { body } = await system().untilJob(client, list, hasDelivery);
    const [delivery] = body['deliveries'] as { delivery_id: string }[];
    const key = await client.post('/v1/keys', { name: 'to be revoked' });
    return {
      API_KEY: client.team.key,
      VIDEO_URL: video_url,
      FACE_IMAGE_URL: face_image_url,
      JOB_ID: await create(client, '/v1/clip', { video_url }),
      SWAP_JOB_ID: await create(client, '/v1/face-swap', { video_url, face_image_url }),
      KEY_ID: String(key.body['key_id']),
      DELIVERY_ID: String(delivery?.delivery_id),
    };
  }
}

/** curl as it is, but failing on what the service refuses. */
const failing = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }';

async function create(client: TeamClient, path: string, body: unknown): Promise<string> {
  return String((await client.post(path, body)).body['job_id']);
}

function commandsOf(page: string): readonly string[] {
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return [...page.matchAll(/<pre class="command"><code>(.*?)<\/code><\/pre>/gs)].map(([, text = '']) =>
    text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? ''),
  );
}

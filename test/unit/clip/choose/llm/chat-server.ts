import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

const chatBody = z.looseObject({
  model: z.string(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
  response_format: z.looseObject({ json_schema: z.looseObject({ name: z.string() }) }).optional(),
});

export type SeenRequest = {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: z.infer<typeof chatBody>;
  /** What is asked: `passages` or `details`. */
  readonly question: string;
  /** The user's first message. */
  readonly asked: string;
};

/** What a model says: text as the assistant's message, or a whole answer of HTTP; `hang` never answers. */
export type Reply = string | { readonly status: number; readonly body: string } | 'hang';

/** A local server that speaks OpenAI's chat protocol and says what `reply` gives. */
export async function startChatServer(reply: (request: SeenRequest, count: number) => Reply) {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = chatBody.parse(JSON.parse(await textOf(request)));
    const asked = body.messages.find(({ role }) => role === 'user')?.content ?? '';
    const question = asked.includes('becomes a clip') ? 'details' : 'passages';
    const one = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body,
      question,
      asked,
    };
    seen.push(one);
    const said = reply(one, seen.length);
    if (said === 'hang') return;
    const answer = typeof said === 'string' ? { status: 200, body: completionOf(said) } : said;
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1/`,
    seen,
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function completionOf(content: string): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

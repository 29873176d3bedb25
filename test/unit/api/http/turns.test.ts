import { describe, expect, test } from 'vitest';
import { Turns } from '#api/http/turns.ts';

const never = new AbortController().signal;

/** Work that goes on until it is told to end, and the order in which it began. */
class Workplace {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  work(name: string): () => Promise<string> {
    return () => {
      this.begun.push(name);
      const { promise, resolve } = Promise.withResolvers<string>();
      this.#ends.set(name, () => resolve(name));
      return promise;
    };
  }

  end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    return new Promise(setImmediate);
  }
}

describe('turns', () => {
  test('let so many work at once, the others in the order in which they came', async () => {
    const turns = new Turns({ atOnce: 2, ofTeam: 2, waiting: 10 });
    const place = new Workplace();
    const all = ['a', 'b', 'c', 'd'].map((name, team) => turns.take(team, never, place.work(name)));
    await new Promise(setImmediate);
    expect(place.begun).toEqual(['a', 'b']);
    await place.end('b');
    expect(place.begun).toEqual(['a', 'b', 'c']);
    await place.end('a');
    await place.end('c');
    await place.end('d');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a team that has its share does not keep the others waiting', async () => {
    const turns = new Turns({ atOnce: 3, ofTeam: 2, waiting: 10 });
    const place = new Workplace();
    for (const name of ['a', 'b', 'c']) void turns.take(1, never, place.work(name));
    void turns.take(2, never, place.work('other'));
    await new Promise(setImmediate);
    expect(place.begun).toEqual(['a', 'b', 'other']);
    await place.end('other');
    expect(place.begun).toEqual(['a', 'b', 'other']);
    await place.end('a');
    expect(place.begun).toEqual(['a', 'b', 'other', 'c']);
  });

  test('who gives up waiting, or finds too many waiting, does not begin', async () => {
    const turns = new Turns({ atOnce: 1, ofTeam: 1, waiting: 1 });
    const place = new Workplace();
    const first = turns.take(1, never, place.work('first'));
    const impatience = new AbortController();
    const second = turns.take(2, impatience.signal, place.work('second'));
    expect(await turns.take(3, never, place.work('third'))).toBeUndefined();
    impatience.abort();
    expect(await second).toBeUndefined();
    expect(await turns.take(4, impatience.signal, place.work('fourth'))).toBeUndefined();
    await place.end('first');
    expect([await first, place.begun]).toEqual(['first', ['first']]);
  });

  test('work that fails gives its turn on', async () => {
    const turns = new Turns({ atOnce: 1, ofTeam: 1, waiting: 1 });
    const failing = turns.take(1, never, () => Promise.reject(new Error('broken')));
    const next = turns.take(1, never, async () => 'next');
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('next');
  });
});

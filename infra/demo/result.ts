import type { FinishedClip, Wallet } from './clip-client.ts';

/** Where a downloaded clip and the picture of its frames are. */
export type KeptClip = { readonly video: string; readonly contactSheet: string };

type Result = {
  readonly clips: readonly FinishedClip[];
  /** One for each clip; none for a clip that failed. */
  readonly files: readonly (KeptClip | undefined)[];
  readonly wallet: Wallet;
  /** The audit's table. */
  readonly replay: string;
};

/** What the demo made, for a person to read. */
export function describeResult({ clips, files, wallet, replay }: Result): string {
  const clipLines = clips.flatMap((clip, index) => describeClip(clip, files[index]));
  const { balance_cents, total_spent_cents, total_topped_up_cents } = wallet;
  const money = `${dollars(total_topped_up_cents)} topped up − ${dollars(total_spent_cents)} spent = ${dollars(balance_cents)}`;
  return `\n${[...clipLines, `Wallet         ${money}`, '', 'The same wallet, replayed from Kafka alone:', '', replay.trimEnd()].join('\n')}\n\n`;
}

function describeClip(clip: FinishedClip, files: KeptClip | undefined): string[] {
  if (clip.status === 'failed')
    return [`Clip ${clip.clip_id} failed: ${clip.error ?? 'no reason was given'}`];
  return [
    `Clip           ${files?.video ?? ''}`,
    `Contact sheet  ${files?.contactSheet ?? ''}`,
    `Title          ${clip.title ?? ''}`,
    `Download URL   ${clip.download_url ?? ''}`,
    '               (signed for 7 days; it answers while a service runs on this data)',
  ];
}

/** `$18.50`. */
export function dollars(cents: number): string {
  return `${cents < 0 ? '-' : ''}$${(Math.abs(cents) / 100).toFixed(2)}`;
}

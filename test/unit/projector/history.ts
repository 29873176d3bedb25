import { createHash } from 'node:crypto';
import { type ChainedEventName, type ChainedEvents, genesisHash, sealEvent } from '#schemas/chain.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { settlementEventId } from '#schemas/ids.ts';
import type { JobRequested } from '#schemas/records.ts';
import type { Topic } from '#schemas/topics.ts';
import { type Random, seededRandom } from './seeded-random.ts';

/** A log as the ledger and the workers would write it, made without them. */

export type HistoryRecord = Readonly<{ topic: Topic; key: string; value: Buffer; eventId: string }>;

type Chain = { seq: number; hash: Buffer };
type Team = { wallet: Chain; team: Chain; balanceCents: number };
type Draft<Name extends ChainedEventName> = Omit<
  ChainedEvents[Name],
  'event_id' | 'team_id' | 'seq' | 'occurred_at' | 'actor' | 'command_id' | 'prev_hash' | 'hash'
> & { readonly event_id?: string };

const STEP_MS = 1_000;
const ITEM_CENTS = 150;
const SWAP_CENTS_PER_SECOND = 20;
const CLIP_ID_STEP = 3;

export class History {
  /** In the order of time. */
  readonly records: HistoryRecord[] = [];
  readonly random: Random;
  readonly #teams = new Map<number, Team>();
  #nowMs = Date.UTC(2026, 0, 1);
  #nextClipId = 1;

  constructor(random: Random) {
    this.random = random;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  balanceCents(teamId: number): number {
    return this.#team(teamId).balanceCents;
  }

  /** A team with a wallet, active, that has `cents`. */
  openTeam(teamId: number, cents: number): void {
    this.#teams.set(teamId, {
      wallet: { seq: 0, hash: genesisHash },
      team: { seq: 0, hash: genesisHash },
      balanceCents: 0,
    });
    this.append(teamId, 'TeamCreated', { name: `Team ${teamId}` });
    this.append(teamId, 'WalletOpened', {});
    this.append(teamId, 'BillingActivated', {});
    if (cents > 0) this.topUp(teamId, cents);
  }

  topUp(teamId: number, cents: number): void {
    const team = this.#team(teamId);
    team.balanceCents += cents;
    const reference = `payment-${this.records.length}`;
    this.append(teamId, 'WalletToppedUp', {
      amount_cents: cents,
      balance_cents: team.balanceCents,
      reference,
    });
  }

  createKey(teamId: number): string {
    const keyId = this.random.uuid();
    const keyHash = createHash('sha256').update(keyId).digest();
    this.append(teamId, 'ApiKeyCreated', {
      key_id: keyId,
      name: 'a\0key',
      prefix: 'cl_abcde',
      key_hash: keyHash,
      expires_at: Date.UTC(9999, 11, 31, 23, 59, 59, 123),
    });
    return keyId;
  }

  revokeKey(teamId: number, keyId: string): void {
    this.append(teamId, 'ApiKeyRevoked', { key_id: keyId });
  }

  /** Charges the wallet and requests a clip job. */
  requestJob(teamId: number, itemCount: number): JobRequested {
    const firstClipId = this.#nextClipId;
    this.#nextClipId += itemCount * CLIP_ID_STEP;
    const terms = {
      kind: 'clip',
      item_count: itemCount,
      item_cents: ITEM_CENTS,
      first_clip_id: firstClipId,
    } as const;
    return this.#request(teamId, terms, null);
  }

  /** Charges the wallet and requests a face swap. */
  requestSwap(teamId: number, durationSeconds: number): JobRequested {
    const itemCents = durationSeconds * SWAP_CENTS_PER_SECOND;
    const terms = { kind: 'face_swap', item_count: 1, item_cents: itemCents, first_clip_id: null } as const;
    return this.#request(teamId, terms, {
      video_url: 'https://example.com/video.mp4',
      video_object_key: null,
      face_image_url: 'https://example.com/face.jpg',
      face_image_object_key: null,
      mode: 'fullbody',
      duration_seconds: durationSeconds,
    });
  }

  #request(
    teamId: number,
    terms: Pick<JobRequested, 'kind' | 'item_count' | 'item_cents' | 'first_clip_id'>,
    faceSwap: JobRequested['face_swap'],
  ): JobRequested {
    const team = this.#team(teamId);
    const amountCents = terms.item_count * terms.item_cents;
    team.balanceCents -= amountCents;
    const shared = { job_id: this.random.uuid(), ...terms, clip_id_step: CLIP_ID_STEP };
    const debitId = this.append(teamId, 'WalletDebited', {
      ...shared,
      amount_cents: amountCents,
      balance_cents: team.balanceCents,
      request_hash: 'a'.repeat(64),
    });
    const request: JobRequested = {
      ...shared,
      event_id: this.random.uuid(),
      team_id: teamId,
      debit_id: debitId,
      occurred_at: this.#nowMs,
      actor: 'operator:test',
      deadline_at: this.#nowMs + 7_200_000,
      clip: null,
      face_swap: faceSwap,
      callback_url: null,
    };
    this.#push('job.events', request.job_id, encodeRecord('JobRequested', request), request.event_id);
    return request;
  }

  completeClip(job: JobRequested, item: number): string {
    const eventId = this.random.uuid();
    const value = {
      ...this.#clip(job, item, eventId),
      title: `Clip ${item}`,
      heading: null,
      object_key: `results/${job.job_id}/${item}.mp4`,
      sheet_object_key: null,
      duration_ms: 20_000,
      width: 1080,
      height: 1920,
      byte_size: 1_000,
      source_start_ms: 0,
      source_end_ms: 20_000,
      notes: [],
    };
    this.#push('job.events', job.job_id, encodeRecord('ClipCompleted', value), eventId);
    return eventId;
  }

  failClip(job: JobRequested, item: number): string {
    const eventId = this.random.uuid();
    const value = {
      ...this.#clip(job, item, eventId),
      code: 'SourceUnreadable',
      error: 'It cannot be read.',
    };
    this.#push('job.events', job.job_id, encodeRecord('ClipFailed', value), eventId);
    return eventId;
  }

  completeSwap(job: JobRequested): string {
    const eventId = this.random.uuid();
    const value = {
      ...this.#ofJob(job, eventId),
      object_key: `results/${job.job_id}/${eventId}.mp4`,
      sheet_object_key: null,
      engine: 'landmark',
      mode: 'fullbody',
      duration_ms: 9_030,
      width: 1280,
      height: 720,
      byte_size: 1_000,
      frame_count: 225,
      swapped_frame_count: 200,
      missed_frame_count: 0,
      segment_count: 1,
      notes: [],
    };
    this.#push('job.events', job.job_id, encodeRecord('SwapCompleted', value), eventId);
    return eventId;
  }

  failSwap(job: JobRequested): string {
    const eventId = this.random.uuid();
    const value = { ...this.#ofJob(job, eventId), code: 'NoFace', error: `No face (${eventId}).` };
    this.#push('job.events', job.job_id, encodeRecord('SwapFailed', value), eventId);
    return eventId;
  }

  refundClip(job: JobRequested, item: number, causeEventId: string): void {
    const team = this.#team(job.team_id);
    team.balanceCents += job.item_cents;
    this.append(job.team_id, 'WalletRefunded', {
      ...this.#settlement(job, item, causeEventId),
      balance_cents: team.balanceCents,
      reason: 'failed',
    });
  }

  captureClip(job: JobRequested, item: number, causeEventId: string): void {
    this.append(job.team_id, 'ChargeCaptured', {
      ...this.#settlement(job, item, causeEventId),
      reason: 'delivered',
    });
  }

  progress(job: JobRequested, stage: string, fraction = 0.5): void {
    const value = {
      job_id: job.job_id,
      team_id: job.team_id,
      occurred_at: this.#tick(),
      stage,
      fraction,
    };
    this.#push('job.progress', job.job_id, encodeRecord('JobProgressed', value), '');
  }

  /** The same bytes once more, as a producer that repeats itself would write them. */
  repeat(record: HistoryRecord): void {
    this.records.push(record);
  }

  /** Appends a sealed event to the team's chain, whatever it says; returns its id. */
  append<Name extends ChainedEventName>(teamId: number, name: Name, draft: Draft<Name>): string {
    const isTeamEvent = name === 'TeamCreated' || name === 'ApiKeyCreated' || name === 'ApiKeyRevoked';
    const chain = this.#team(teamId)[isTeamEvent ? 'team' : 'wallet'];
    const unsealed = {
      event_id: this.random.uuid(),
      team_id: teamId,
      seq: chain.seq + 1,
      occurred_at: this.#tick(),
      actor: 'operator:test',
      command_id: this.random.uuid(),
      prev_hash: chain.hash,
      ...draft,
    } as unknown as ChainedEvents[Name];
    const { event, bytes } = sealEvent(name, unsealed);
    chain.seq += 1;
    chain.hash = event.hash;
    this.#push(isTeamEvent ? 'team.events' : 'wallet.events', String(teamId), bytes, event.event_id);
    return event.event_id;
  }

  #settlement(job: JobRequested, item: number, causeEventId: string) {
    return {
      event_id: settlementEventId(job.debit_id, item),
      amount_cents: job.item_cents,
      debit_id: job.debit_id,
      job_id: job.job_id,
      item,
      cause_event_id: causeEventId,
    };
  }

  #clip(job: JobRequested, item: number, eventId: string) {
    const clipId = (job.first_clip_id ?? 0) + item * job.clip_id_step;
    return { ...this.#ofJob(job, eventId), item, clip_id: clipId };
  }

  #ofJob(job: JobRequested, eventId: string) {
    return {
      event_id: eventId,
      job_id: job.job_id,
      team_id: job.team_id,
      debit_id: job.debit_id,
      occurred_at: this.#tick(),
    };
  }

  #team(teamId: number): Team {
    const team = this.#teams.get(teamId);
    if (team === undefined) throw new Error(`Team ${teamId} is not open.`);
    return team;
  }

  #push(topic: Topic, key: string, value: Buffer, eventId: string): void {
    this.records.push({ topic, key, value, eventId });
  }

  #tick(): number {
    this.#nowMs += STEP_MS;
    return this.#nowMs;
  }
}

/** A busy history: jobs that end in every way, repeated and late events, keys made and revoked, jobs in flight. */
export function busyHistory(seed: number, size: { readonly teams: number; readonly jobs: number }): History {
  const random = seededRandom(seed);
  const history = new History(random);
  for (let teamId = 1; teamId <= size.teams; teamId++) {
    history.openTeam(teamId, 100_000);
    const keyId = history.createKey(teamId);
    if (random.next() < 0.5) history.revokeKey(teamId, keyId);
  }
  for (let job = 0; job < size.jobs; job++) {
    const teamId = 1 + random.below(size.teams);
    if (random.next() < 0.3) runSwap(history, teamId);
    else runClips(history, teamId);
  }
  return history;
}

function runSwap(history: History, teamId: number): void {
  const { random } = history;
  const job = history.requestSwap(teamId, 1 + random.below(20));
  const fractions = [0.5, random.next(), Number.NaN, 1.5, -1];
  for (let events = random.below(4); events > 0; events--)
    history.progress(job, `swap ${events}`, fractions[random.below(fractions.length)]);
  if (random.next() < 0.15) return;
  const fails = random.next() < 0.4;
  const cause = fails ? history.failSwap(job) : history.completeSwap(job);
  if (random.next() < 0.2) history.completeSwap(job);
  if (random.next() < 0.2) history.failSwap(job);
  if (random.next() < 0.1) history.completeClip(job, 0);
  if (random.next() < 0.1) return;
  if (fails) history.refundClip(job, 0, cause);
  else history.captureClip(job, 0, cause);
  if (random.next() < 0.3) history.progress(job, 'late', 0.9);
}

function runClips(history: History, teamId: number): void {
  const { random } = history;
  const job = history.requestJob(teamId, 1 + random.below(3));
  history.progress(job, 'fetch');
  for (let item = 0; item < job.item_count; item++) {
    if (random.next() < 0.15) continue;
    history.progress(job, `render ${item}`);
    const fails = random.next() < 0.4;
    const cause = fails ? history.failClip(job, item) : history.completeClip(job, item);
    if (random.next() < 0.1) history.failSwap(job);
    if (random.next() < 0.2) history.completeClip(job, item);
    if (random.next() < 0.2) history.failClip(job, item);
    if (random.next() < 0.1) continue;
    if (fails && random.next() < 0.9) history.refundClip(job, item, cause);
    else history.captureClip(job, item, cause);
  }
  if (random.next() < 0.3) history.progress(job, 'late');
}

/** What a stretch can score for, each 0 to 1. */
export type ScorePart =
  | 'opening'
  | 'ending'
  | 'hook'
  | 'coherence'
  | 'speech'
  | 'pace'
  | 'level'
  | 'faces'
  | 'duration'
  | 'emotion'
  | 'facts'
  | 'play'
  | 'peaks'
  | 'outcries'
  | 'motion'
  | 'shot';

export type StyleWeights = Readonly<Partial<Record<ScorePart, number>>>;

const general: StyleWeights = {
  opening: 0.17,
  ending: 0.16,
  coherence: 0.18,
  speech: 0.14,
  duration: 0.11,
  hook: 0.07,
  faces: 0.05,
  pace: 0.04,
  level: 0.03,
  shot: 0.05,
};

const viral: StyleWeights = {
  hook: 0.2,
  opening: 0.14,
  ending: 0.13,
  emotion: 0.11,
  speech: 0.1,
  duration: 0.09,
  coherence: 0.08,
  faces: 0.05,
  pace: 0.04,
  level: 0.03,
  shot: 0.03,
};

const business: StyleWeights = {
  facts: 0.2,
  opening: 0.16,
  ending: 0.15,
  coherence: 0.14,
  speech: 0.11,
  duration: 0.09,
  hook: 0.06,
  faces: 0.04,
  pace: 0.03,
  shot: 0.02,
};

const gaming: StyleWeights = {
  peaks: 0.2,
  outcries: 0.14,
  motion: 0.17,
  level: 0.08,
  play: 0.09,
  duration: 0.12,
  ending: 0.08,
  opening: 0.07,
  hook: 0.03,
  shot: 0.02,
};

const weightsOfStyle: Readonly<Record<string, StyleWeights>> = { viral, business, general, gaming };

/** How much each part counts for a clipping style of the interface; together 1. */
export function styleWeights(style: string): StyleWeights {
  return weightsOfStyle[style] ?? general;
}

import type { ChoiceRequest } from '#workers/clip/choose/choice-request.ts';

/** What a client asks for who asks for nothing, of a source by the name of `fileName`. */
export const plainRequestFor = (fileName: string): ChoiceRequest => ({
  num_clips: 1,
  style: 'viral',
  prompt: null,
  length_seconds: null,
  hook_length_seconds: null,
  auto_heading: true,
  heading: null,
  sourceName: { title: null, fileName },
});

/**
 * What the service takes by its interface and cannot do yet: asked for explicitly, it answers 501, and costs
 * nothing. This is the only place where the contract is not held to the letter; it ends up empty.
 */

const always = () => true;

const clipOptions: Readonly<Record<string, (value: unknown) => boolean>> = {
  style: always,
  prompt: always,
  hook_length: always,
  camera_mode: (value) => ['facecam', 'speaker-zoom', 'active-speaker'].includes(String(value)),
  auto_heading: (value) => value === true,
  'heading.text': always,
  'heading.style': always,
  'heading.color': always,
  'heading.font': always,
  'heading.position': always,
  'heading.bg_color': always,
  'heading.instructions': always,
  'captions.enabled': (value) => value === true,
  music_url: always,
  music: always,
};

/** Whether a clip option, under its name in Form A, has a value that does not exist yet. */
export const isClipOptionMissing = (field: string, value: unknown): boolean =>
  clipOptions[field]?.(value) ?? false;

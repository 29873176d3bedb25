import type { ClipOptions } from '#schemas/records.ts';

/** What a client asks for that sends a link and nothing else. */
export const plainClipOptions: ClipOptions = {
  video_url: 'https://videos.example/talk.mp4',
  video_object_key: null,
  video_file_name: null,
  num_clips: 1,
  style: 'viral',
  length_seconds: null,
  prompt: null,
  camera_mode: 'standard',
  hook_length_seconds: null,
  auto_heading: true,
  heading: null,
  captions: null,
  music_url: null,
  music_object_key: null,
};

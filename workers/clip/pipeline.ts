/**
 * The clip pipeline's door: a job's source is fetched (or taken from object storage), analysed and planned once
 * for all its clips, and each clip of the plan is rendered on its own, on any machine.
 */
export { analyseVideo } from './analyse-video.ts';
export { fetchSource, sourceNameOf } from './fetch-source.ts';
export { planClips } from './plan-clips.ts';
export { renderClip } from './render-clip.ts';
export { checkMusic } from './sound/check-music.ts';
export { fetchMusic } from './sound/fetch-music.ts';

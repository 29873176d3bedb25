import { type EgressAllow, forbiddenOnItsFace } from '#infra/egress/forbidden-url.ts';
import type { FieldError } from './answers.ts';
import { fieldError } from './field-rules.ts';

/** The rules of fields that say where a source is: `<what>_url`, or in a form a file `<what>` instead. */

type UrlFields<What extends string> = { readonly [Field in `${What}_url`]?: string | undefined };

/** What is wrong with the sources that are there. */
export function sourceErrors<What extends string>(
  whats: readonly What[],
  body: UrlFields<NoInfer<What>>,
  fileFields: readonly string[],
  allow: EgressAllow,
): readonly FieldError[] {
  const given = whats.filter((what) => body[`${what}_url`] !== undefined);
  const twice = given
    .filter((what) => fileFields.includes(what))
    .map((what) => fieldError([`${what}_url`], `cannot be sent beside a ${what} file; send one of the two`));
  return [...twice, ...given.flatMap((what) => urlErrors(`${what}_url`, body[`${what}_url`] ?? '', allow))];
}

function urlErrors(field: string, url: string, allow: EgressAllow): readonly FieldError[] {
  const wrong = forbiddenOnItsFace(url, allow);
  return wrong === undefined ? [] : [fieldError([field], `cannot be used: ${withoutStop(wrong)}`)];
}

const withoutStop = (sentence: string): string =>
  `${sentence.charAt(0).toLowerCase()}${sentence.slice(1).replace(/\.$/, '')}`;

const missingSource = (what: string): FieldError => ({
  path: `${what}_url`,
  message: `A ${what}_url or a ${what} file via multipart form data must be provided.`,
});

export const noVideo = missingSource('video');
export const noFaceImage = missingSource('face_image');

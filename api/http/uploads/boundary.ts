/** RFC 2046 allows 70 characters; some clients take more. */
const LONGEST = 200;

/** The boundary that a `multipart/form-data` content type names, or undefined where none can be read. */
export function boundaryOf(contentType: string | undefined): string | undefined {
  const found = /;\s*boundary=(?:"([^"\\]+)"|([^\s";]+))/i.exec(contentType ?? '');
  const boundary = found?.[1] ?? found?.[2];
  return boundary !== undefined && boundary.length <= LONGEST ? boundary : undefined;
}

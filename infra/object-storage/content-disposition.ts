/**
 * A `Content-Disposition` value that saves under `fileName`: plain ASCII for old clients, the real name
 * by RFC 6266 beside it. Quotes, separators and control characters cannot break out of the header.
 */
export function attachment(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\/:*?<>|;%]/g, '_').slice(0, 150);
  const encoded = encodeURIComponent(fileName.slice(0, 150).toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

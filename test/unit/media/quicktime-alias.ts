/** A QuickTime file whose one data reference is a Macintosh alias to `target`, and whose own media are blank. */
export function withAlias(file: Buffer, target: string): Buffer {
  const mdat = file.indexOf('mdat') - 4;
  const moov = file.indexOf('moov') - 4;
  const media = Buffer.from(file.subarray(0, moov));
  media.fill(0, mdat + 8);
  return Buffer.concat([media, replaceReference(file.subarray(moov), aliasRecord(target))]);
}

/** The `dref` box of a `moov` with one other entry, and all the boxes around it grown. */
function replaceReference(moov: Buffer, entry: Buffer): Buffer {
  const at = moov.indexOf('dref') + 12;
  const old = moov.readUInt32BE(at);
  const grown = Buffer.concat([moov.subarray(0, at), entry, moov.subarray(at + old)]);
  for (const box of ['moov', 'trak', 'mdia', 'minf', 'dinf', 'dref']) {
    // `dinf` and `minf` of the picture come first in what ffmpeg writes.
    const start = grown.indexOf(box) - 4;
    grown.writeUInt32BE(grown.readUInt32BE(start) + entry.length - old, start);
  }
  return grown;
}

function aliasRecord(target: string): Buffer {
  const path = Buffer.from(`disk:${target.slice(1).replaceAll('/', ':')}`);
  const body = Buffer.alloc(150);
  body.writeUInt8(4, 10);
  body.write('disk', 11);
  const name = target.split('/').at(-1) ?? '';
  body.writeUInt8(name.length, 50);
  body.write(name, 51);
  // How many folders up and down: read only where paths are relative.
  body.writeInt16BE(1, 130);
  body.writeInt16BE(1, 132);
  const tag = Buffer.alloc(4);
  tag.writeInt16BE(2, 0);
  tag.writeInt16BE(path.length, 2);
  const padding = Buffer.alloc(path.length % 2);
  const end = Buffer.from([0xff, 0xff, 0, 0]);
  const data = Buffer.concat([body, tag, path, padding, end]);
  const head = Buffer.alloc(12);
  head.writeUInt32BE(12 + data.length, 0);
  head.write('alis', 4);
  return Buffer.concat([head, data]);
}

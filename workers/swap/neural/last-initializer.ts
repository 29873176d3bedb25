/**
 * Reads the last initializer out of an ONNX file: inswapper keeps there the matrix (512 x 512) that turns an
 * ArcFace embedding into what it expects. ONNX Runtime does not give initializers out, so the protobuf is walked:
 * ModelProto.graph (7) → GraphProto.initializer (5) → TensorProto.dims (1), data_type (2), float_data (4),
 * raw_data (9). Pure. Throws when the file is no such model.
 */
export function lastInitializer(model: Uint8Array): {
  readonly dims: readonly number[];
  readonly values: Float32Array;
} {
  const graph = fields(model).find(({ number, bytes }) => number === 7 && bytes !== undefined)?.bytes;
  const tensor =
    graph === undefined ? undefined : fields(graph).findLast(({ number }) => number === 5)?.bytes;
  if (tensor === undefined)
    throw new Error('The swap model has no initializers: it is not of the inswapper contract.');
  const parts = fields(tensor);
  const dims = parts
    .filter(({ number }) => number === 1)
    .flatMap(({ value, bytes }) => (bytes === undefined ? [value] : packed(bytes)));
  const type = parts.find(({ number }) => number === 2)?.value;
  if (type !== floatType) throw new Error('The swap model’s last initializer does not hold 32-bit floats.');
  const raw =
    parts.find(({ number }) => number === 9)?.bytes ?? parts.find(({ number }) => number === 4)?.bytes;
  if (raw === undefined) throw new Error('The swap model’s last initializer has no values.');
  return { dims, values: new Float32Array(new Uint8Array(raw).buffer) };
}

const floatType = 1;

type Field = { readonly number: number; readonly value: number; readonly bytes: Uint8Array | undefined };

/** The fields of a protobuf message; groups do not occur in ONNX. */
function fields(message: Uint8Array): Field[] {
  const found: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = message[at];
      if (byte === undefined) throw new Error('The model file ends in the middle of a field.');
      at += 1;
      value += (byte & 0x7f) * factor;
      factor *= 128;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) found.push({ number, value: varint(), bytes: undefined });
    else {
      const length = wire === 2 ? varint() : wire === 1 ? 8 : 4;
      found.push({ number, value: 0, bytes: message.subarray(at, at + length) });
      at += length;
    }
  }
  return found;
}

function packed(bytes: Uint8Array): number[] {
  const values: number[] = [];
  let [value, factor] = [0, 1];
  for (const byte of bytes) {
    value += (byte & 0x7f) * factor;
    factor *= 128;
    if (byte >= 0x80) continue;
    values.push(value);
    [value, factor] = [0, 1];
  }
  return values;
}

/**
 * Writes small ONNX models, so that code for an operator's models can be tested without them: only what such models
 * need (operators without subgraphs, float tensors).
 */

export type OnnxNode = {
  readonly operator: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly integers?: Readonly<Record<string, number>>;
  readonly integerLists?: Readonly<Record<string, readonly number[]>>;
};

export type OnnxTensor = {
  readonly name: string;
  readonly dims: readonly number[];
  readonly values: Float32Array | BigInt64Array;
};
export type OnnxValue = {
  readonly name: string;
  /** Null: may vary. */
  readonly dims: readonly (number | null)[];
  readonly type?: 'float' | 'int64';
};

const floatType = 1;
const int64Type = 7;

/** A model's file. Fields as in onnx.proto. */
export function onnxModel(graph: {
  readonly nodes: readonly OnnxNode[];
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly initializers: readonly OnnxTensor[];
}): Buffer {
  const body = Buffer.concat([
    ...graph.nodes.map((node) => message(1, nodeBytes(node))),
    text(2, 'test'),
    ...graph.initializers.map((tensor) => message(5, tensorBytes(tensor))),
    ...graph.inputs.map((value) => message(11, valueBytes(value))),
    ...graph.outputs.map((value) => message(12, valueBytes(value))),
  ]);
  const opset = Buffer.concat([text(1, ''), whole(2, 13)]);
  return Buffer.concat([whole(1, 8), message(7, body), message(8, opset)]);
}

function nodeBytes(node: OnnxNode): Buffer {
  const attributes = [
    ...Object.entries(node.integers ?? {}).map(([name, value]) =>
      Buffer.concat([text(1, name), whole(3, value), whole(20, 2)]),
    ),
    ...Object.entries(node.integerLists ?? {}).map(([name, values]) =>
      Buffer.concat([text(1, name), ...values.map((value) => whole(8, value)), whole(20, 7)]),
    ),
  ];
  return Buffer.concat([
    ...node.inputs.map((name) => text(1, name)),
    ...node.outputs.map((name) => text(2, name)),
    text(4, node.operator),
    ...attributes.map((attribute) => message(5, attribute)),
  ]);
}

function tensorBytes({ name, dims, values }: OnnxTensor): Buffer {
  const type = values instanceof Float32Array ? floatType : int64Type;
  return Buffer.concat([
    ...dims.map((length) => whole(1, length)),
    whole(2, type),
    text(8, name),
    message(9, Buffer.from(values.buffer, values.byteOffset, values.byteLength)),
  ]);
}

function valueBytes({ name, dims, type = 'float' }: OnnxValue): Buffer {
  const shape = Buffer.concat(
    dims.map((length) => message(1, length === null ? Buffer.alloc(0) : whole(1, length))),
  );
  const element = type === 'float' ? floatType : int64Type;
  const tensorType = Buffer.concat([whole(1, element), message(2, shape)]);
  return Buffer.concat([text(1, name), message(2, message(1, tensorType))]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  do {
    const low = left % 128;
    left = Math.floor(left / 128);
    bytes.push(left > 0 ? low + 128 : low);
  } while (left > 0);
  return Buffer.from(bytes);
}

function whole(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

function message(field: number, content: Buffer): Buffer {
  return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

function text(field: number, value: string): Buffer {
  return message(field, Buffer.from(value, 'utf8'));
}

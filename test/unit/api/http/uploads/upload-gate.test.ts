import { expect, test } from 'vitest';
import { UploadGate } from '#api/http/uploads/upload-gate.ts';

test('one team gets its share of the places and not those of others', () => {
  const gate = new UploadGate(3, 2);
  const leave = gate.enter(1);
  expect(gate.enter(1)).toBeTypeOf('function');
  expect(gate.enter(1)).toBeUndefined();
  expect(gate.enter(2)).toBeTypeOf('function');
  expect(gate.enter(3), 'all places are taken').toBeUndefined();
  leave?.();
  expect(gate.enter(1)).toBeTypeOf('function');
});

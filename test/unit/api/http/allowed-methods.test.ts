import { expect, test } from 'vitest';
import { allowedMethods, routeWithId } from '#api/http/allowed-methods.ts';

const routes = [
  { methods: ['GET', 'HEAD'], path: '/v1/clip/:jobId' },
  { methods: ['POST'], path: '/v1/clip' },
  { methods: ['GET', 'HEAD'], path: '/v1/keys' },
  { methods: ['POST'], path: '/v1/keys' },
];

test.each([
  ['/v1/clip', ['POST']],
  ['/v1/clip/x', ['GET', 'HEAD']],
  ['/v1/clip/', []],
  ['/v1/clip/x/y', []],
  ['/v1/keys', ['GET', 'HEAD', 'POST']],
  ['/v1/nothing', []],
])('%s can be asked with %j', (path, methods) => expect(allowedMethods(path, routes)).toEqual(methods));

test.each([
  ['GET', '/v1/clip', '/v1/clip/:jobId'],
  ['POST', '/v1/clip', undefined],
  ['GET', '/v1/keys', undefined],
  ['GET', '/v1/nothing', undefined],
])('%s %s lacks the id of %s', (method, path, route) =>
  expect(routeWithId({ method, path }, routes)).toBe(route),
);

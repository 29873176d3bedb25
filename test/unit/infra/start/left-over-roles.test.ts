import { expect, test } from 'vitest';
import { roleProgram, roleUrl } from '#infra/start/role.ts';
import { leftOverRoles } from '#infra/start/role-records.ts';

const record = { name: 'workers', pid: 50, starterPid: 40 } as const;
const worker = { pid: 50, commandLine: `/usr/bin/node ${roleProgram('workers')}` };

test('a role is left over when it still runs and its starter does not', () => {
  expect(leftOverRoles([record], [worker])).toEqual([record]);
});

test('a role of a living starter is not', () => {
  expect(leftOverRoles([record], [worker, { pid: 40, commandLine: 'node infra/start/main.ts' }])).toEqual([]);
});

test('a process that has the number by chance is not', () => {
  expect(leftOverRoles([record], [{ pid: 50, commandLine: '/usr/bin/vi notes.txt' }])).toEqual([]);
  expect(leftOverRoles([record], [])).toEqual([]);
});

test('a role on all interfaces is asked on this machine', () => {
  expect(roleUrl({ host: '0.0.0.0', healthPort: 8080 })).toBe('http://127.0.0.1:8080');
  expect(roleUrl({ host: '::1', healthPort: 8080 })).toBe('http://[::1]:8080');
});

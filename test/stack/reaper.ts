/** Has testcontainers, in this process, start no reaper: where its image cannot be had, our own sweeper does the work. */
export function goWithoutReaper(): void {
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
}

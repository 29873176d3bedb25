/** `FAULT_SECONDS` makes the runs longer (`npm run faults`); `FAULT_SEED` repeats one. */
export const faultSeconds = Number(process.env['FAULT_SECONDS'] ?? '8');
export const faultSeed = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 1_000_000));

import { enableCompileCache } from 'node:module';

/** `npm run admin`: the operator's commands. */

// Half of a short command's time would go into compiling the program; so it is loaded only after this.
enableCompileCache();
const { runAdmin } = await import('./run-admin.ts');

process.exitCode = await runAdmin(process.argv.slice(2));
process.exit();

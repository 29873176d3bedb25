import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runLogged, SetupFailure } from './logged-command.mjs';
import { withSetupLock } from './setup-lock.mjs';

/**
 * Installs the npm packages where node_modules is not what package-lock.json says, also after an
 * installation that was interrupted.
 *
 * @param {{ root: string, dataDir: string }} folders
 */
export async function bringPackagesInStep({ root, dataDir }) {
  if (isStamped(root)) return;
  await withSetupLock(join(dataDir, 'setup-packages.lock'), async () => {
    // Whoever had the lock before us may have done it.
    if (isStamped(root)) return;
    if (!isInstalledAsLocked(root)) await install(root, join(dataDir, 'logs', 'npm-install.log'));
    writeFileSync(stampFile(root), wantedStamp(root));
  });
}

/** The stamp is inside node_modules: whoever removes that folder removes the stamp. */
function stampFile(root) {
  return join(root, 'node_modules', '.clipledger-set-up');
}

function isStamped(root) {
  return readText(stampFile(root)) === wantedStamp(root) && hasOwnNode(root);
}

/** Binary packages belong to a system, so a folder copied from another machine is not in step. */
function wantedStamp(root) {
  const hash = createHash('sha256');
  for (const name of ['package.json', 'package-lock.json']) hash.update(readText(join(root, name)) ?? '');
  return `${process.platform}-${process.arch} ${hash.digest('hex')}\n`;
}

/** Node 24 comes as a package, and its binary by that package's install script. */
function hasOwnNode(root) {
  return existsSync(join(root, 'node_modules/node/bin/node'));
}

/**
 * Whether an npm run by hand has installed just this: npm writes `node_modules/.package-lock.json` as the
 * last act of a complete installation. Optional packages may be absent.
 */
function isInstalledAsLocked(root) {
  const wanted = lockedPackages(join(root, 'package-lock.json'));
  const installed = lockedPackages(join(root, 'node_modules/.package-lock.json'));
  if (wanted === undefined || installed === undefined || !hasOwnNode(root)) return false;
  if (readText(stampFile(root))?.startsWith(`${process.platform}-${process.arch} `) === false) return false;
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true;
    return installed[path] === undefined ? optional === true : installed[path].version === version;
  });
}

function lockedPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

async function install(root, logFile) {
  // From here on, until all is done, no run may take node_modules for complete.
  rmSync(stampFile(root), { force: true });
  rmSync(join(root, 'node_modules/.package-lock.json'), { force: true });
  const what = 'installing the npm packages';
  if (!existsSync(join(root, 'package-lock.json'))) return runNpm({ what, root, logFile, order: 'install' });
  try {
    await runNpm({ what, root, logFile, order: 'ci' });
  } catch (error) {
    // `npm ci` refuses a lock file that package.json has outgrown; `npm install` brings it in step.
    if (!(error instanceof SetupFailure) || !error.message.includes('EUSAGE')) throw error;
    await runNpm({ what, root, logFile, order: 'install' });
  }
}

/** The npm that runs us, else the one on PATH; its settings come from .npmrc and the environment as usual. */
function runNpm({ what, root, logFile, order }) {
  const { npm_execpath: npmScript, npm_node_execpath: npmNode } = process.env;
  const isNpm = npmScript !== undefined && npmNode !== undefined && /npm-cli\.c?js$/.test(npmScript);
  // `npm run -s` would silence this npm too, and NODE_ENV=production would leave out what `check` needs.
  const args = [order, '--include=dev', '--loglevel=warn', '--no-audit', '--no-fund'];
  return runLogged({
    what,
    logFile,
    cwd: root,
    command: isNpm ? npmNode : 'npm',
    args: isNpm ? [npmScript, ...args] : args,
    env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
  });
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
